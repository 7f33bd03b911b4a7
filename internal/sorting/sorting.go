// Package sorting sorts slices of structs with little machine code. The generic sorts of package slices are
// compiled anew for each struct type, about 20 KB each. These functions share the one sort of package sort,
// which moves items through reflection and is slower. Use slices.SortFunc for slices of strings, numbers and
// pointers, whose sorts are in the program anyway, and where sorting dominates the time of a call.
package sorting

import "sort"

// By sorts s in ascending order of compare, which follows the rules of [slices.SortFunc]. Equal items may
// change places.
func By[T any](s []T, compare func(a, b T) int) {
	sort.Slice(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}

// Stable is like [By], but keeps equal items in their order.
func Stable[T any](s []T, compare func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return compare(s[i], s[j]) < 0 })
}
