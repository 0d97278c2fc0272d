package conversion

import (
	"strings"
	"unicode/utf8"
)

// nearest is the known word that a misspelt one was most likely meant to be, or "" when none is near.
func nearest(word string, known []string) string {
	best, bestDistance := "", 0
	for _, candidate := range known {
		distance := editDistance(strings.ToLower(word), strings.ToLower(candidate))
		longer := max(utf8.RuneCountInString(word), utf8.RuneCountInString(candidate))
		if 2*distance <= longer && (best == "" || distance < bestDistance) {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance is the number of characters to insert, delete or replace on the way from one word to the other.
func editDistance(from, to string) int {
	target := []rune(to)
	row := make([]int, len(target)+1)
	for column := range row {
		row[column] = column
	}
	for _, r := range from {
		diagonal := row[0]
		row[0]++
		for column, t := range target {
			replaced := diagonal
			if r != t {
				replaced++
			}
			diagonal = row[column+1]
			row[column+1] = min(replaced, row[column]+1, diagonal+1)
		}
	}
	return row[len(target)]
}
