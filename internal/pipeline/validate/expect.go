package validate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"collie/internal/tool"
)

// This file says what a value should have been: its type, one of some values, or a bound.

// wrongTypeProblem says that the value at "at" should have one of the types in want.
func (x *explainer) wrongTypeProblem(at []string, s *jsonschema.Schema, want []string) problem {
	v, secret := x.value(at), isSecret(at, s)
	text := "expected " + strings.Join(want, " or ")
	if held := jsonInString(v); held != "" && slices.Contains(want, held) {
		text += ", got a string that holds one; give the " + held + " itself"
	} else {
		if len(want) == 1 {
			text += exampleOf(want[0], v, s, secret)
		}
		text += ", got " + describeValue(v, secret)
	}
	return problem{at: at, text: text, types: want}
}

// jsonInString returns "object" or "array" if v is a string with the JSON text of one, which models often write;
// else "".
func jsonInString(v any) string {
	s, _ := v.(string)
	s = strings.TrimSpace(s)
	switch {
	case s == "" || s[0] != '{' && s[0] != '[' || !json.Valid([]byte(s)):
		return ""
	case s[0] == '{':
		return "object"
	}
	return "array"
}

// wrongValueProblem says that the value at "at" should be one of want.
func (x *explainer) wrongValueProblem(at []string, s *jsonschema.Schema, want []any) problem {
	v, secret := x.value(at), isSecret(at, s)
	text := "expected "
	if len(want) > 1 {
		text += "one of "
	}
	text += literals(want) + ", got " + describeValue(v, secret)
	if word, ok := v.(string); ok && !secret && len(want) > 1 {
		var texts []string
		for _, w := range want {
			if s, ok := w.(string); ok {
				texts = append(texts, s)
			}
		}
		if best, ok := tool.Nearest(word, texts); ok {
			text += "; did you mean " + quoted(best) + "?"
		}
	}
	return problem{at: at, text: text, values: want}
}

// boundText says what a keyword that limits a value or its contents expects, such as minimum, maxItems or pattern, and what
// was given instead. Of other keywords it says only that the value does not fit.
func (x *explainer) boundText(at []string, s *jsonschema.Schema, k jsonschema.ErrorKind) string {
	v := x.value(at)
	got := describeValue(v, isSecret(at, s))
	switch k := k.(type) {
	case *kind.Minimum:
		return "expected at least " + decimalText(k.Want) + ", got " + got
	case *kind.Maximum:
		return "expected at most " + decimalText(k.Want) + ", got " + got
	case *kind.ExclusiveMinimum:
		return "expected more than " + decimalText(k.Want) + ", got " + got
	case *kind.ExclusiveMaximum:
		return "expected less than " + decimalText(k.Want) + ", got " + got
	case *kind.MultipleOf:
		return "expected a multiple of " + decimalText(k.Want) + ", got " + got
	case *kind.MinLength:
		return "expected at least " + countText(k.Want, "character") + ", got " + countText(k.Got, "character")
	case *kind.MaxLength:
		return "expected at most " + countText(k.Want, "character") + ", got " + countText(k.Got, "character")
	case *kind.MinItems:
		return "expected at least " + countText(k.Want, "item") + ", got " + countText(k.Got, "item")
	case *kind.MaxItems:
		return "expected at most " + countText(k.Want, "item") + ", got " + countText(k.Got, "item")
	case *kind.MinProperties:
		return "expected at least " + countText(k.Want, memberNoun(at)) + ", got " + countText(k.Got, memberNoun(at))
	case *kind.MaxProperties:
		return "expected at most " + countText(k.Want, memberNoun(at)) + ", got " + countText(k.Got, memberNoun(at))
	case *kind.AdditionalItems:
		items, _ := v.([]any)
		return "expected at most " + countText(len(items)-k.Count, "item") + ", got " + countText(len(items), "item")
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal; each may be given once", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item is of the kind that must be among them"
	case *kind.MinContains:
		return fmt.Sprintf("expected at least %s of the kind that must be among them, got %d", countText(k.Want, "item"), len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("expected at most %s of one kind, got %d", countText(k.Want, "item"), len(k.Got))
	case *kind.Pattern:
		return "expected text that matches " + shorten(oneLine(k.Want), maxQuoted) + ", got " + got
	case *kind.Format:
		return "expected text of format " + shorten(oneLine(k.Want), maxQuoted) + ", got " + got
	}
	return "does not fit the schema"
}

func countText(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// maxDecimals is how many decimal places of a bound are written.
const maxDecimals = 20

// decimalText returns r as a decimal number: an integer shortened to maxQuoted, any other with at most maxDecimals places.
func decimalText(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String(), maxQuoted)
	}
	digits, _ := r.FloatPrec()
	return r.FloatString(min(digits, maxDecimals))
}

// exampleOf returns an example of a value of type want: the given value converted to that type if possible,
// else a value from the schema, else any value if that says more than the type.
func exampleOf(want string, v any, s *jsonschema.Schema, secret bool) string {
	if !secret {
		if e, ok := convertTo(want, v); ok {
			return " such as " + e
		}
	}
	candidates := s.Examples
	if s.Default != nil {
		candidates = append([]any{*s.Default}, candidates...)
	}
	for _, c := range candidates {
		if typeOf(c) == want && want != "object" && want != "array" {
			return " such as " + literal(c)
		}
	}
	switch want {
	case "string":
		return ` such as "text"`
	case "integer":
		return " such as 5"
	case "number":
		return " such as 1.5"
	case "boolean":
		return " true or false"
	}
	return ""
}

// convertTo returns v as JSON of type want, and whether v can be read as that type: "5" as the integer 5, 5 as the array [5].
func convertTo(want string, v any) (string, bool) {
	if v == nil {
		return "", false
	}
	switch actual := typeOf(v); {
	case actual == "object" || actual == "array":
		return "", false
	case want == "array":
		return "[" + literal(v) + "]", true
	case want == "string":
		return quoted(strings.Trim(literal(v), `"`)), true
	}
	text, ok := v.(string)
	if !ok || len(text) > maxQuoted {
		return "", false
	}
	parsed, _, err := decode([]byte(text), true)
	if err != nil || typeOf(parsed) != want && (want != "number" || typeOf(parsed) != "integer") {
		return "", false
	}
	return literal(parsed), true
}
