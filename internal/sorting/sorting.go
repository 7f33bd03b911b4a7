// Package sorting sorts slices of structs with little code. The sorts of package slices are compiled anew for each struct,
// some 20 KB of program each; these share the one of package sort, which moves items through reflection. Slices of
// strings, numbers and pointers have their sorts in the program once for all, so slices.SortFunc is right for them, and
// so it is where sorting is what a call spends its time on.
package sorting

import "sort"

// By sorts s in ascending order of compare, which is as [slices.SortFunc] wants it. Items that are equal may change places.
func By[T any](s []T, compare func(a, b T) int) {
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable is [By] that leaves equal items in the order in which they were.
func Stable[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
