package spelling

import "fmt"

// Count is a number with its noun, whose plural ends in s: "1 case", "2 cases".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
