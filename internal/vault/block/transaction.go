package block

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// performTransactions returns the handler of /api/transactions. If an operation fails, its transaction is undone; the other
// transactions stay. The answer has the operations of all transactions, whether they succeeded or not.
func performTransactions(mux *api.Mux) api.Handler {
	return func(tx *workspace.Tx, req api.Request) api.Reply {
		list := req.NeedList("transactions")
		stamp := req.Get("reqId")
		if !stamp.Exists() {
			return api.Fail(-1, "Field [reqId] is required")
		}
		answer := make([]api.Transaction, 0, len(list))
		for _, t := range list {
			steps := t.Get("doOperations").Array()
			ops := parseOperations(steps)
			tx.Try(func() bool { return performOperations(tx, mux.Operations(), ops, steps) })
			answer = append(answer, api.Transaction{
				Timestamp: stamp.Int(), DoOperations: ops, UndoOperations: parseOperations(t.Get("undoOperations").Array()),
			})
		}
		return api.OK(answer)
	}
}

// parseOperations parses operations in the form in which they are answered.
func parseOperations(steps []gjson.Result) []api.DoOperation {
	ops := make([]api.DoOperation, len(steps))
	for i, step := range steps {
		_ = json.Unmarshal([]byte(step.Raw), &ops[i]) // keys of another type are left out
	}
	return ops
}

// performOperations executes operations up to the first that fails, and reports whether all succeeded. An unknown
// action does nothing and succeeds.
func performOperations(tx *workspace.Tx, handlers map[string]api.Operation, ops []api.DoOperation, steps []gjson.Result) bool {
	for i := range ops {
		if do := handlers[ops[i].Action]; do != nil && !do(tx, &ops[i], steps[i]) {
			return false
		}
	}
	return true
}
