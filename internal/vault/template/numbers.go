package template

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
)

// This file has the functions for numbers, which are those of Sprig and go-humanize with their error texts. The letters in params are types of arguments, as kinds in value.go lists them.

var numberFunctions = map[string]function{
	"add":  {params: "a*", call: func(_ *run, a []any) (any, error) { return fold(a, 0, func(x, y int64) int64 { return x + y }), nil }},
	"mul":  {params: "aa*", call: func(_ *run, a []any) (any, error) { return fold(a, 1, func(x, y int64) int64 { return x * y }), nil }},
	"add1": {params: "a", call: func(_ *run, a []any) (any, error) { return toInt(a[0]) + 1, nil }},
	"sub":  {params: "aa", call: func(_ *run, a []any) (any, error) { return toInt(a[0]) - toInt(a[1]), nil }},
	"div": {params: "aa", call: func(_ *run, a []any) (any, error) {
		if toInt(a[1]) == 0 {
			return nil, errZero
		}
		return toInt(a[0]) / toInt(a[1]), nil
	}},
	"mod": {params: "aa", call: func(_ *run, a []any) (any, error) {
		if toInt(a[1]) == 0 {
			return nil, errZero
		}
		return toInt(a[0]) % toInt(a[1]), nil
	}},
	"max": {params: "aa*", call: func(_ *run, a []any) (any, error) {
		return fold(a, toInt(a[0]), func(x, y int64) int64 { return max(x, y) }), nil
	}},
	"biggest": {params: "aa*", call: func(_ *run, a []any) (any, error) {
		return fold(a, toInt(a[0]), func(x, y int64) int64 { return max(x, y) }), nil
	}},
	"min": {params: "aa*", call: func(_ *run, a []any) (any, error) {
		return fold(a, toInt(a[0]), func(x, y int64) int64 { return min(x, y) }), nil
	}},
	"maxf": {params: "aa*", call: func(_ *run, a []any) (any, error) { return foldf(a, math.Max), nil }},
	"minf": {params: "aa*", call: func(_ *run, a []any) (any, error) { return foldf(a, math.Min), nil }},

	"addf":  {params: "a*", call: func(_ *run, a []any) (any, error) { return decimal(append([]any{0}, a...), (*big.Rat).Add) }},
	"add1f": {params: "a", call: func(_ *run, a []any) (any, error) { return decimal([]any{a[0], 1}, (*big.Rat).Add) }},
	"subf":  {params: "aa*", call: func(_ *run, a []any) (any, error) { return decimal(a, (*big.Rat).Sub) }},
	"mulf":  {params: "aa*", call: func(_ *run, a []any) (any, error) { return decimal(a, (*big.Rat).Mul) }},
	"divf":  {params: "aa*", call: func(_ *run, a []any) (any, error) { return decimal(a, nil) }},

	"floor": {params: "a", call: func(_ *run, a []any) (any, error) { return math.Floor(toFloat(a[0])), nil }},
	"ceil":  {params: "a", call: func(_ *run, a []any) (any, error) { return math.Ceil(toFloat(a[0])), nil }},
	"round": {params: "aif*", call: func(_ *run, a []any) (any, error) { return round(a), nil }},

	"int":       {params: "a", call: func(_ *run, a []any) (any, error) { return int(toInt(a[0])), nil }},
	"int64":     {params: "a", call: func(_ *run, a []any) (any, error) { return toInt(a[0]), nil }},
	"float64":   {params: "a", call: func(_ *run, a []any) (any, error) { return toFloat(a[0]), nil }},
	"atoi":      {params: "s", call: func(_ *run, a []any) (any, error) { n, _ := strconv.Atoi(a[0].(string)); return n, nil }},
	"toDecimal": {params: "a", growth: 1, call: func(_ *run, a []any) (any, error) { return octal(text(a[0])), nil }},

	"pow":  {params: "aa", call: func(_ *run, a []any) (any, error) { return truncateFloat(math.Pow(toFloat(a[0]), toFloat(a[1]))), nil }},
	"powf": {params: "aa", call: func(_ *run, a []any) (any, error) { return math.Pow(toFloat(a[0]), toFloat(a[1])), nil }},
	"log":  {params: "aa", call: func(_ *run, a []any) (any, error) { return truncateFloat(logarithm(a)), nil }},
	"logf": {params: "aa", call: func(_ *run, a []any) (any, error) { return logarithm(a), nil }},

	"FormatFloat": {params: "sf", growth: 2, call: func(_ *run, a []any) (any, error) { return formatFloat(a[0].(string), a[1].(float64)) }},
	"randInt": {params: "ii", call: func(_ *run, a []any) (any, error) {
		least, most := a[0].(int), a[1].(int)
		if most <= least || most-least <= 0 {
			return nil, errors.New("invalid argument to Intn")
		}
		return least + rand.IntN(most-least), nil
	}},
}

var errZero = errors.New("runtime error: integer divide by zero")

// fold combines values, as integers, one after the other, beginning with from.
func fold(values []any, from int64, op func(x, y int64) int64) int64 {
	for _, v := range values {
		from = op(from, toInt(v))
	}
	return from
}

// foldf is like fold for floats; it begins with the first value.
func foldf(values []any, op func(x, y float64) float64) float64 {
	from := toFloat(values[0])
	for _, v := range values[1:] {
		from = op(from, toFloat(v))
	}
	return from
}

// decimal computes with decimal numbers, so that 0.1 plus 0.2 is 0.3. A nil operation divides, to 16 decimal places.
func decimal(values []any, op func(z, x, y *big.Rat) *big.Rat) (any, error) {
	var sum *big.Rat
	for _, value := range values {
		digits := strconv.FormatFloat(toFloat(value), 'f', -1, 64)
		n, ok := new(big.Rat).SetString(digits)
		switch {
		case !ok:
			return nil, fmt.Errorf("cannot create a decimal from %s", digits)
		case sum == nil:
			sum = n
		case op != nil:
			op(sum, sum, n)
		case n.Sign() == 0:
			return nil, errors.New("decimal division by 0")
		default:
			sum.SetString(sum.Quo(sum, n).FloatString(16))
		}
		// Floats are within 10^±308, so anything beyond is zero or infinite; computing it would only take time.
		if sum.Num().BitLen() > 1<<13 || sum.Denom().BitLen() > 1<<13 {
			break
		}
	}
	f, _ := sum.Float64()
	return f, nil
}

func round(a []any) float64 {
	threshold := 0.5
	if len(a) > 2 {
		threshold = a[2].(float64)
	}
	power := math.Pow(10, float64(a[1].(int)))
	shifted := power * toFloat(a[0])
	if _, fraction := math.Modf(shifted); fraction >= threshold {
		return math.Ceil(shifted) / power
	}
	return math.Floor(shifted) / power
}

// octal parses octal digits, as toDecimal of Sprig does; 0 for anything else.
func octal(digits string) int64 {
	n, err := strconv.ParseInt(digits, 8, 64)
	if err != nil {
		return 0
	}
	return n
}

func logarithm(a []any) float64 { return math.Log(toFloat(a[0])) / math.Log(toFloat(a[1])) }

// formatFloat formats a number by a pattern such as "#,###.##". Its first separator is for thousands, its second for
// the fraction, which gets as many digits as the pattern has. A single separator is for the fraction.
func formatFloat(form string, n float64) (string, error) {
	switch {
	case math.IsNaN(n):
		return "NaN", nil
	case n > math.MaxFloat64:
		return "Infinity", nil
	case n < -math.MaxFloat64:
		return "-Infinity", nil
	}
	precision, point, thousands, plus := 2, ".", ",", ""
	if form != "" {
		precision, thousands = 9, ""
		pattern := []rune(form)
		var signs []int
		for i, c := range pattern {
			if c != '#' && c != '0' {
				signs = append(signs, i)
			}
		}
		if len(signs) > 0 && signs[0] == 0 {
			if pattern[0] != '+' {
				return "", errors.New("FormatFloat(): invalid positive sign directive")
			}
			plus, signs = "+", signs[1:]
		}
		if len(signs) == 2 {
			if signs[1]-signs[0] != 4 {
				return "", errors.New("FormatFloat(): thousands separator directive must be followed by 3 digit-specifiers")
			}
			thousands, signs = string(pattern[signs[0]]), signs[1:]
		}
		if len(signs) == 1 {
			point, precision = string(pattern[signs[0]]), len(pattern)-signs[0]-1
		}
		if precision > 9 {
			return "", errors.New("FormatFloat(): at most 9 digits behind the point")
		}
	}
	const tiny = 0.000000001
	switch {
	case n <= -tiny:
		plus, n = "-", -n
	case n < tiny:
		plus, n = "", 0
	}
	scale := math.Pow10(precision)
	whole, part := math.Modf(n + 5/(scale*10))
	out := strconv.FormatInt(truncateFloat(whole), 10)
	if thousands != "" {
		for i := len(out) - 3; i > 0 && out[i-1] != '-'; i -= 3 {
			out = out[:i] + thousands + out[i:]
		}
	}
	if precision == 0 {
		return plus + out, nil
	}
	fraction := strconv.Itoa(int(part * scale))
	return plus + out + point + strings.Repeat("0", max(precision-len(fraction), 0)) + fraction, nil
}
