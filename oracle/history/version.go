package history

import (
	"strconv"
	"strings"
)

// VersionNumbers are the first three numbers of a server's version, as of 10.11.18-MariaDB; 0 where one is missing.
func VersionNumbers(version string) (n [3]int) {
	for i, part := range strings.SplitN(version, ".", 3) {
		end := 0
		for end < len(part) && part[end] >= '0' && part[end] <= '9' {
			end++
		}
		n[i], _ = strconv.Atoi(part[:end])
	}
	return n
}
