package av

import (
	"math"
	"strconv"
	"strings"

	"collie/internal/siyuanapi"
)

// currencySymbols are the symbols of the number formats for currencies.
var currencySymbols = map[string]string{
	"usDollar": "$", "yuan": "CN¥", "euro": "€", "pound": "£", "yen": "JP¥", "ruble": "₽", "rupee": "₹", "won": "₩",
	"canadianDollar": "CA$", "franc": "CHF",
}

// formatNumber formats a number in one of the formats of a number column; an unknown format is ignored.
func formatNumber(n float64, format string) string {
	switch symbol := currencySymbols[format]; {
	case symbol != "":
		sign := ""
		if n < 0 {
			sign, n = "-", -n
		}
		return sign + symbol + groupThousands(strconv.FormatFloat(n, 'f', 2, 64))
	case format == "commas":
		return groupThousands(plainNumber(n))
	case format == "percent":
		return plainNumber(math.Round(n*1e4)/100) + "%"
	}
	return plainNumber(n)
}

func plainNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// groupThousands inserts commas into a formatted number.
func groupThousands(text string) string {
	integer, fraction, hasFraction := strings.Cut(text, ".")
	digits := strings.TrimPrefix(integer, "-")
	var out strings.Builder
	out.WriteString(integer[:len(integer)-len(digits)])
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	if hasFraction {
		out.WriteString("." + fraction)
	}
	return out.String()
}

// numberValue returns a computed number, an empty one for NaN and infinity.
func numberValue(n float64, format string) *siyuanapi.Number {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return &siyuanapi.Number{}
	}
	return &siyuanapi.Number{Content: n, NotEmpty: true, Format: format, Formatted: formatNumber(n, format)}
}
