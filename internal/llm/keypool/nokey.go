package keypool

import (
	"fmt"
	"time"

	"collie/internal/llm"
)

// noKeyError returns the error for r if no key can be used: what is wrong with the keys, or when the first can be used
// again.
func (pr *provider) noKeyError(r *Request, now int64) *llm.Error {
	e := &llm.Error{Provider: pr.name, Model: r.Model}
	var earliest int64
	var enabled, weighted, allowed, invalid int
	var why, blocked string
	for _, k := range pr.keys {
		if k.Disabled {
			continue
		}
		enabled++
		if k.Weight == 0 {
			continue
		}
		weighted++
		if !k.allows(r.Model) {
			continue
		}
		allowed++
		if k.invalid {
			invalid++
			why = k.Label + ": " + k.why
			continue
		}
		m := k.models[r.Model]
		if m != nil && m.state == Blocked && now < m.until {
			blocked = k.Label + ": " + m.why
			continue
		}
		at := max(k.rest.endsAt(), m.endsAt())
		if k.rest.isProbing(now) || m.isProbing(now) {
			at = max(at, now+int64(probePoll))
		}
		if at > now && (earliest == 0 || at < earliest) {
			earliest = at
		}
	}
	switch {
	case enabled == 0:
		e.Class, e.Message = llm.ClassNoProvider, "every key is disabled"
		e.Hint = fmt.Sprintf("collie keys list shows them; collie keys enable %s LABEL enables one", pr.name)
	case weighted == 0:
		e.Class, e.Message = llm.ClassNoProvider, "the weight of every key is 0, so none is used"
		e.Hint = fmt.Sprintf("give one a weight: collie keys set %s LABEL --weight 1", pr.name)
	case allowed == 0:
		e.Class, e.Message, e.Scoped = llm.ClassModelAccess, "no key may be used for this model", true
		e.Hint = "collie keys list shows the models of each key"
	case earliest != 0:
		e.Class, e.RetryAfter = llm.ClassAllCooling, time.Duration(earliest-now)
		e.Message = "no key can be used before " + time.Unix(0, earliest).Format(time.TimeOnly)
		e.Hint = "wait, or collie keys reset tries them at once"
	case blocked != "":
		e.Class, e.Message, e.Scoped = llm.ClassModelAccess, blocked, true
	case invalid > 0:
		e.Class, e.Message = llm.ClassCredential, why
		e.Hint = fmt.Sprintf("collie keys set %s LABEL takes a new key", pr.name)
	default:
		e.Class, e.Message = llm.ClassUnknown, "every key has been tried"
	}
	return e
}
