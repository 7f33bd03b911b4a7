package conversation_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// The printer prints what a snapshot has beyond the events before it, and prints it only once if several snapshots come.
func TestSnapshotPrintsWhatWasMissed(t *testing.T) {
	t.Parallel()
	var out, stderr bytes.Buffer
	printer := conversation.NewPrinter(&root.Program{Output: output.Output{Out: &out, Err: &stderr}})
	for _, e := range []string{
		`{"turnId":"1","type":"turn.start","data":{}}`,
		`{"turnId":"1","type":"text.delta","data":{"partIndex":0,"text":"Tea is "}}`,
		`{"turnId":"1","type":"snapshot","data":{"parts":[{"type":"text","text":"Tea is green"},{"type":"tool_call","callId":"a","name":"fs","args":"{\"action\":\"read\"}"}],"calls":[{"callId":"a","state":"running"}]}}`,
		`{"turnId":"1","type":"snapshot","data":{"parts":[{"type":"text","text":"Tea is green"},{"type":"tool_call","callId":"a","name":"fs","args":"{\"action\":\"read\"}"},{"type":"tool_result","callId":"a","text":"leaves"}],"calls":[{"callId":"a","state":"done","durationMs":7}]}}`,
		`{"turnId":"1","type":"text.delta","data":{"partIndex":3,"text":"or black"}}`,
		`{"turnId":"2","type":"snapshot","data":{"ownTools":true,"agent":"fake","parts":[{"type":"text","text":"Coffee"}]}}`,
	} {
		printer.Event(json.RawMessage(e))
	}
	printer.End()
	if want := "Tea is green\nor blackCoffee\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if want := "collie: → fs read  \ncollie: ✓ fs read 7 ms leaves\ncollie: fake runs its own tools here, beside yours\n"; stderr.String() != want {
		t.Errorf("told %q, want %q", stderr.String(), want)
	}
}
