package puretemplate

import "strings"

// shape returns a bound for the result of a function, whose number of arguments is right. why says why there is none.
type shape func(args []value) (made value, why string)

// all returns the total size of the arguments.
func all(args []value) int {
	n := 0
	for _, a := range args {
		n = plus(n, plus(a.size, 1))
	}
	return n
}

func yes([]value) (value, string)    { return boolean, "" }
func count([]value) (value, string)  { return numbered, "" }
func now([]value) (value, string)    { return timed, "" }
func lasts([]value) (value, string)  { return lasting, "" }
func short([]value) (value, string)  { return texted(64), "" }
func digest([]value) (value, string) { return texted(160), "" }

// constant bounds a month or a weekday, which have methods.
func constant([]value) (value, string) { return value{size: 16}, "" }

// either bounds one of the arguments.
func either(args []value) (value, string) {
	out := args[0]
	for _, a := range args[1:] {
		out = join(out, a)
	}
	return out, ""
}

// grown returns the shape of a text that is at most factor times as long as its arguments.
func grown(factor int) shape {
	return func(args []value) (value, string) { return texted(plus(16, times(factor, all(args)))), "" }
}

// layout bounds a formatted date: a character of the layout may become the longest word.
func layout(args []value) (value, string) {
	return texted(plus(64, times(12, args[0].size))), ""
}

// formatted bounds printf.
func formatted(args []value) (value, string) {
	format, ok := args[0].literal.(string)
	if !ok {
		return value{}, "takes a format that stands in the template"
	}
	digits := 0
	for _, c := range format {
		switch {
		case c == '*':
			return value{}, "takes no width from an argument"
		case '0' <= c && c <= '9':
			if digits++; digits > 3 {
				return value{}, "takes no width above 999"
			}
		default:
			digits = 0
		}
	}
	verbs := strings.Count(format, "%")
	return texted(plus(len(format), times(verbs, plus(2000, times(16, all(args[1:])))))), ""
}

// replaced bounds replace: the new text may be inserted between any two characters.
func replaced(args []value) (value, string) {
	return texted(times(plus(args[2].size, 1), plus(args[1].size, 1))), ""
}

// repeated bounds a text repeated n times, or with each line n longer.
func repeated(args []value) (value, string) {
	n, _ := args[0].counted()
	return texted(times(max(n, 0)+2, plus(args[1].size, 1))), ""
}

func random(args []value) (value, string) {
	n, _ := args[0].counted()
	return texted(max(n, 0)), ""
}

// numbers bounds a list of numbers.
func numbers(args []value) (value, string) {
	n := 1
	for _, a := range args {
		c, _ := a.counted()
		n += max(c, -c)
	}
	return listed(n, numbered), ""
}

// gathered bounds a list of the arguments.
func gathered(args []value) (value, string) {
	if len(args) == 0 {
		return listed(0, value{}), ""
	}
	element, _ := either(args)
	return listed(len(args), element), ""
}

// named bounds a dict of the arguments, alternating names and values.
func named(args []value) (value, string) {
	out, _ := gathered(args)
	out.sort, out.size = dict, times(2, out.size)
	return out, ""
}

// picked bounds an element.
func picked(args []value) (value, string) {
	v := args[0]
	if v.sort == text && len(args) > 1 {
		return numbered, "" // a byte
	}
	for i := 1; i < len(args) || i == 1; i++ {
		v = v.of()
	}
	v.literal = nil
	return v, ""
}

// part bounds a part of a list or text.
func part(args []value) (value, string) {
	out := args[0]
	out.literal = nil
	if out.sort == dict {
		out.sort = list
	}
	return out, ""
}

// added bounds a list with one more element.
func added(args []value) (value, string) {
	if args[0].sort != list {
		return value{}, "takes a list whose length can be told"
	}
	return listed(args[0].length+1, join(args[0].of(), args[1])), ""
}

func concatenated(args []value) (value, string) {
	out := listed(0, value{})
	for i, a := range args {
		if a.sort != list {
			return value{}, "takes lists whose length can be told"
		}
		element := a.of()
		if i > 0 {
			element = join(element, out.of())
		}
		out = listed(plus(out.length, a.length), element)
	}
	return out, ""
}

// joined bounds the elements joined with a text.
func joined(args []value) (value, string) {
	return texted(plus(args[1].size, times(plus(args[1].size, 1), plus(args[0].size, 1)))), ""
}

func split(args []value) (value, string) {
	size := args[1].size
	return value{sort: list, length: plus(size, 1), size: plus(times(2, size), 2), element: &value{sort: text, size: size}}, ""
}

func keys(args []value) (value, string) {
	n, size := 0, 0
	for _, a := range args {
		if a.sort != dict {
			return value{}, "takes dicts"
		}
		n, size = plus(n, a.length), plus(size, a.size)
	}
	return value{sort: list, length: n, size: plus(size, n), element: &value{sort: text, size: size}}, ""
}
