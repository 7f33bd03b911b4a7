package puretemplate

import "strings"

// This file bounds the size of what template functions return.

// boundFunc returns a bound for the result of a function. The caller has checked the number of arguments. If there is
// no bound, why is the reason.
type boundFunc func(args []value) (result value, why string)

// totalSize returns the total size of the arguments.
func totalSize(args []value) int {
	n := 0
	for _, a := range args {
		n = addSizes(n, addSizes(a.size, 1))
	}
	return n
}

func boolBound([]value) (value, string)     { return boolValue, "" }
func countBound([]value) (value, string)    { return numberValue, "" }
func nowBound([]value) (value, string)      { return timeValue, "" }
func durationBound([]value) (value, string) { return durationValue, "" }
func shortBound([]value) (value, string)    { return textValue(64), "" }
func digestBound([]value) (value, string)   { return textValue(160), "" }

// constantBound bounds a month or a weekday, which have methods.
func constantBound([]value) (value, string) { return value{size: 16}, "" }

// eitherBound bounds one of the arguments.
func eitherBound(args []value) (value, string) {
	out := args[0]
	for _, a := range args[1:] {
		out = join(out, a)
	}
	return out, ""
}

// grownBound bounds a text that is at most factor times as long as all arguments together.
func grownBound(factor int) boundFunc {
	return func(args []value) (value, string) {
		return textValue(addSizes(16, multiplySizes(factor, totalSize(args)))), ""
	}
}

// layoutBound bounds a formatted date: a character of the layout may become the longest word.
func layoutBound(args []value) (value, string) {
	return textValue(addSizes(64, multiplySizes(12, args[0].size))), ""
}

// matchBound bounds what a search for a regular expression returns, and how long it takes.
func matchBound(result boundFunc) boundFunc {
	return func(args []value) (value, string) {
		expression, ok := args[0].literal.(string)
		if !ok {
			return value{}, "takes an expression that stands in the template"
		}
		v, why := result(args)
		v.work = MatchWork(expression, args[1].size) / workOfStep
		return v, why
	}
}

// printfBound bounds printf.
func printfBound(args []value) (value, string) {
	format, ok := args[0].literal.(string)
	if !ok {
		return value{}, "takes a format that stands in the template"
	}
	if HasWideVerb(format) {
		return value{}, "takes no width above 999 and none from an argument"
	}
	verbs := strings.Count(format, "%")
	return textValue(addSizes(len(format), multiplySizes(verbs, addSizes(2000, multiplySizes(16, totalSize(args[1:])))))), ""
}

// HasWideVerb reports whether a format of package fmt has a verb with a width, a precision or an index of an argument of more
// than three digits, or one that comes from an argument.
func HasWideVerb(format string) bool {
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return false
		}
		verb := strings.TrimLeft(rest, "+-# 0123456789.[]*")
		digits := 0
		for _, c := range rest[:len(rest)-len(verb)] {
			switch {
			case c == '*':
				return true
			case c < '0' || c > '9':
				digits = 0
			default:
				if digits++; digits > 3 {
					return true
				}
			}
		}
		format = strings.TrimPrefix(verb, "%") // of %%, which prints a percent sign
	}
}

// replaceBound bounds replace: the new text may be inserted between any two characters.
func replaceBound(args []value) (value, string) {
	return textValue(multiplySizes(addSizes(args[2].size, 1), addSizes(args[1].size, 1))), ""
}

// repeatBound bounds a text repeated n times, or with each line n longer.
func repeatBound(args []value) (value, string) {
	n, _ := args[0].knownNumber()
	return textValue(multiplySizes(max(n, 0)+2, addSizes(args[1].size, 1))), ""
}

// randomBound bounds a random text of n characters.
func randomBound(args []value) (value, string) {
	n, _ := args[0].knownNumber()
	return textValue(max(n, 0)), ""
}

// numbersBound bounds a list of numbers.
func numbersBound(args []value) (value, string) {
	n := 1
	for _, a := range args {
		c, _ := a.knownNumber()
		n += max(c, -c)
	}
	return listValue(n, numberValue), ""
}

// listBound bounds a list of the arguments.
func listBound(args []value) (value, string) {
	if len(args) == 0 {
		return listValue(0, value{}), ""
	}
	element, _ := eitherBound(args)
	return listValue(len(args), element), ""
}

// dictBound bounds a dict of the arguments, alternating names and values.
func dictBound(args []value) (value, string) {
	out, _ := listBound(args)
	out.sort, out.size = dict, multiplySizes(2, out.size)
	return out, ""
}

// elementBound bounds an element of a list or dict, as index, get, first and last return it.
func elementBound(args []value) (value, string) {
	v := args[0]
	if v.sort == text && len(args) > 1 {
		return numberValue, "" // a byte
	}
	for i := 1; i < len(args) || i == 1; i++ {
		v = v.elementBoundOf()
	}
	v.literal = nil
	return v, ""
}

// partBound bounds a part of a list or text.
func partBound(args []value) (value, string) {
	out := args[0]
	out.literal = nil
	if out.sort == dict {
		out.sort = list
	}
	return out, ""
}

// appendBound bounds a list with one more element.
func appendBound(args []value) (value, string) {
	if args[0].sort != list {
		return value{}, "takes a list whose length can be told"
	}
	return listValue(args[0].length+1, join(args[0].elementBoundOf(), args[1])), ""
}

// concatBound bounds the concatenation of lists.
func concatBound(args []value) (value, string) {
	out := listValue(0, value{})
	for i, a := range args {
		if a.sort != list {
			return value{}, "takes lists whose length can be told"
		}
		element := a.elementBoundOf()
		if i > 0 {
			element = join(element, out.elementBoundOf())
		}
		out = listValue(addSizes(out.length, a.length), element)
	}
	return out, ""
}

// joinBound bounds the elements joined with a text.
func joinBound(args []value) (value, string) {
	return textValue(addSizes(args[1].size, multiplySizes(addSizes(args[1].size, 1), addSizes(args[0].size, 1)))), ""
}

func splitBound(args []value) (value, string) {
	size := args[1].size
	return value{sort: list, length: addSizes(size, 1), size: addSizes(multiplySizes(2, size), 2), element: &value{sort: text, size: size}}, ""
}

func keysBound(args []value) (value, string) {
	n, size := 0, 0
	for _, a := range args {
		if a.sort != dict {
			return value{}, "takes dicts"
		}
		n, size = addSizes(n, a.length), addSizes(size, a.size)
	}
	return value{sort: list, length: n, size: addSizes(size, n), element: &value{sort: text, size: size}}, ""
}
