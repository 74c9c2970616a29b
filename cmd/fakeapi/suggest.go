package main

import "fmt"

// suggest is what to say behind a word that nobody knows: the known one that it was
// probably meant to be, written as show does, or nothing.
func suggest(word string, known []string, show func(string) string) string {
	best, bestDistance := "", len(word)/3+2 // so many slips make another word
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

// editDistance counts how many letters have to be put in, taken out or replaced to make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // of the part of a that was looked at, to each beginning of b
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
