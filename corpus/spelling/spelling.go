package spelling

import (
	"fmt"
	"strings"
)

// Nearest returns the known word that is fewest slips away from a word, a slip
// being a letter left out, added, replaced or swapped with the next; upper case
// counts as lower case. It returns "" if that takes more than one slip for every
// three letters: then it would be a guess. Of equally near words the first counts.
func Nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, most := "", max(1, len([]rune(word))/3)+1
	for _, k := range known {
		if d := distance(word, strings.ToLower(k)); d < most {
			best, most = k, d
		}
	}
	return best
}

// Hint is what a message puts behind an unknown word: ` (did you mean "level"?)`, or
// "" where no known word is near.
func Hint(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// distance counts slips: the optimal string alignment distance.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	// Rows of the table for x[:i-2], x[:i-1] and x[:i].
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(y); j++ {
			replaced := last[j-1]
			if x[i-1] != y[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
