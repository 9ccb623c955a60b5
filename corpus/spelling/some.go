package spelling

import (
	"fmt"
	"strings"
)

// Some writes the first three of a list of names and how many more there are.
func Some(names []string) string {
	const first = 3
	text := strings.Join(names[:min(first, len(names))], ", ")
	if more := len(names) - first; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
