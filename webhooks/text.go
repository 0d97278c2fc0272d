package webhooks

import (
	"fmt"
	"slices"
	"strings"
)

// maxListedNames bounds a list of names in a message: warnings have little room.
const maxListedNames = 10

// quotedList writes names as people read them, sorted: "edge", "gold" and 3 more.
func quotedList(names []string) string {
	names = slices.Sorted(slices.Values(names))
	more := len(names) - maxListedNames
	quoted := make([]string, 0, maxListedNames)
	for _, name := range names[:min(len(names), maxListedNames)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	list := strings.Join(quoted, ", ")
	if more > 0 {
		return fmt.Sprintf("%s and %d more", list, more)
	}
	return list
}
