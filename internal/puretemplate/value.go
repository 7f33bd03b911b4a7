package puretemplate

// sort is the type of a value, as far as the text of the template tells.
type sort uint8

const (
	unknown sort = iota // an element of something; may be any of the others
	text
	number
	truth
	moment
	span // a duration
	list
	dict
	data // the input of the template
)

// value is what is known of a value before a template runs: upper bounds, never too small.
type value struct {
	sort sort
	// size bounds its printed form in bytes.
	size int
	// length bounds the elements of a list or dict.
	length int
	// element bounds every element of a list or dict.
	element *value
	// literal is the number or text if it is written in the template.
	literal any // int64 or string
	// work is how many steps a function takes to make it, besides the call.
	work int
}

// maxSize stands for itself and all larger sizes, so that sums and products do not overflow.
const maxSize = 1 << 30

func addSizes(a, b int) int { return min(a+b, maxSize) }

func multiplySizes(a, b int) int {
	if a != 0 && b > maxSize/a {
		return maxSize
	}
	return min(a*b, maxSize)
}

var (
	numberValue   = value{sort: number, size: 32}
	boolValue     = value{sort: truth, size: 5}
	timeValue     = value{sort: moment, size: 80}
	durationValue = value{sort: span, size: 32}
)

func textValue(size int) value { return value{sort: text, size: min(size, maxSize)} }

// listValue returns the bound of a list of that many elements.
func listValue(length int, element value) value {
	element.literal = nil
	return value{sort: list, length: length, element: &element, size: addSizes(2, multiplySizes(length, addSizes(element.size, 1)))}
}

// elementBoundOf returns the bound of any element of a value.
func (v value) elementBoundOf() value {
	if v.element != nil {
		return *v.element
	}
	return value{size: v.size}
}

// join returns a bound for both values.
func join(a, b value) value {
	out := value{sort: a.sort, size: max(a.size, b.size), length: max(a.length, b.length)}
	if a.literal != nil && a.literal == b.literal {
		out.literal = a.literal
	}
	switch {
	case a.sort != b.sort:
		out.sort, out.length = unknown, 0
	case a.element != nil && b.element != nil:
		e := join(*a.element, *b.element)
		out.element = &e
	case a.element != nil:
		out.element = a.element
	default:
		out.element = b.element
	}
	return out
}

// isWithin reports whether b bounds everything that v does.
func (v value) isWithin(b value) bool {
	if b.literal != nil && v.literal != b.literal || v.sort != b.sort && b.sort != unknown || v.size > b.size || v.length > b.length {
		return false
	}
	return v.element == nil || b.element != nil && v.element.isWithin(*b.element) || b.element == nil && b.sort == unknown
}

// knownNumber returns the number if v is written in the template and not too large.
func (v value) knownNumber() (n int, ok bool) {
	i, ok := v.literal.(int64)
	return int(i), ok && v.sort == number && -maxCount <= i && i <= maxCount
}
