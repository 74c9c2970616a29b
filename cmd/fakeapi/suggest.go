package main

import "fmt"

// suggest returns a suggestion for an unknown word: the most similar known one, formatted by show,
// or "".
func suggest(word string, known []string, show func(string) string) string {
	best, bestDistance := "", len(word)/3+2 // more edits are another word
	for _, k := range known {
		if n := editDistance(word, k); n < bestDistance {
			best, bestDistance = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", show(best))
}

// editDistance returns the number of insertions, deletions and substitutions between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the processed prefix of a to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
