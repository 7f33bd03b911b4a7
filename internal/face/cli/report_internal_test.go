package cli

import (
	"bytes"
	"testing"

	"collie/internal/tool"
)

// What is wrong is said once, as the flag that a person typed.
func TestReportSaysItOnce(t *testing.T) {
	t.Parallel()
	const missing = `required argument "path" (string) is missing; none are given`
	for name, tt := range map[string]struct {
		message string
		fields  []tool.Field
		want    string
	}{
		"one argument": {missing, []tool.Field{{Path: "--path", Message: missing}}, "✗ [validation_error] call: --path: " + missing + "\n"},
		"a part of the message": {
			`dataType is required: markdown or dom`, []tool.Field{{Path: "--data-type", Message: "is required: markdown or dom"}},
			"✗ [validation_error] call: --data-type is required: markdown or dom\n",
		},
		"one of several": {
			"give a or b", []tool.Field{{Path: "--a", Message: "give a or b"}, {Path: "--b", Message: "give a or b"}},
			"✗ [validation_error] call: give a or b\n",
		},
		"several": {
			"no (and 1 more)", []tool.Field{{Path: "--a", Message: "no"}, {Path: "--b", Message: "nor this"}},
			"✗ [validation_error] call: no (and 1 more)\n  --a: no\n  --b: nor this\n",
		},
		"another message": {"no", []tool.Field{{Path: "--a", Message: "too long"}}, "✗ [validation_error] call: no\n  --a: too long\n"},
	} {
		var out bytes.Buffer
		p := &program{err: &out}
		p.report(&tool.Error{Op: "call", Kind: tool.Invalid, Message: tt.message, Fields: tt.fields})
		if out.String() != tt.want {
			t.Errorf("%s: got\n%swant\n%s", name, &out, tt.want)
		}
	}
}

func TestReasonWithoutAReason(t *testing.T) {
	t.Parallel()
	r := serverRow{}
	r.Detail = "a first start may download it"
	if got := reason(&r); got != r.Detail {
		t.Errorf("got %q", got)
	}
}
