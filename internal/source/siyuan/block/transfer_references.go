package block

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.transfer_references, which makes references to one block refer to another.

// maxReferrers is the largest number of referring blocks that one call changes. If there are more, the result says so.
const maxReferrers = 10_000

type transferArgs struct {
	FromID kernel.ID   `json:"fromID" about:"block that is referred to now" req:"true"`
	ToID   kernel.ID   `json:"toID" about:"block to refer to instead" req:"true"`
	RefIDs []kernel.ID `json:"refIDs" about:"only the references in these blocks; else all that may be written" min:"1" max:"1000"`
}

type transferResult struct {
	Success bool        `json:"success" about:"true"`
	FromID  kernel.ID   `json:"fromID" about:"as given"`
	ToID    kernel.ID   `json:"toID" about:"as given"`
	Count   int         `json:"count" about:"blocks whose references were changed"`
	RefIDs  []kernel.ID `json:"refIDs" about:"these blocks" verbose:"yes"`
	Skipped int         `json:"skippedCount,omitempty" about:"blocks left out because they may not be written"`
	Warning string      `json:"warning,omitempty" about:"what was left out"`
}

// transferReferences returns the action transfer_references of the tool block.
func transferReferences() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "transfer_references",
		Purpose:   "Make references to one block refer to another",
		Guide:     "The blocks that hold the references change too, so those in notebooks that may not be written are left out.",
		Dangerous: true, Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs: []action.Need{
			action.OnBlock(access.Write, "fromID"), action.OnBlock(access.Write, "toID"), action.OnBlock(access.Write, "refIDs"),
		},
		Endpoints: []string{"query/sql", "sqlite/flushTransaction", "block/transferBlockRef", "block/getBlockKramdowns"},
		Result:    transferResult{},
		Example:   `{"fromID":"20260102030405-abcdefg","toID":"20260102030405-bcdefgh"}`,
		Effect: func(r *action.Request) string {
			which := "all references"
			if n := len(r.Targets("refIDs")); n > 0 {
				which = fmt.Sprintf("the references in %d blocks", n)
			}
			return fmt.Sprintf("make %s to %s, in whatever document, refer to %s", which, r.Target("fromID").ID, r.Target("toID").ID)
		},
	}, runTransfer)
}

// referrer is a block that refers to another.
type referrer struct {
	ID       kernel.ID `json:"block_id"`
	Root     kernel.ID `json:"root_id"`
	Notebook kernel.ID `json:"box"`
}

// findReferrers returns blocks in readable notebooks that refer to a block: of those among, or of all if that is empty. It returns
// one more than maxReferrers if there are more. An embedded query that names the block does not count, since the kernel cannot
// transfer it.
func findReferrers(ctx context.Context, r *action.Request, to kernel.ID, among []kernel.ID) ([]referrer, error) {
	conditions := ""
	if len(among) > 0 {
		conditions = " AND block_id IN (" + kernel.QuoteIDs(among) + ")"
	}
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if restricted { // hidden blocks must not take the place of others, nor show by a warning that there are more
		visible, err := r.VisibleNotebookIDs(ctx)
		if err != nil {
			return nil, err
		}
		conditions += " AND box IN (" + kernel.QuoteIDs(visible) + ")"
	}
	return kernel.SQL[referrer](ctx, r.Kernel, fmt.Sprintf(
		"SELECT DISTINCT block_id, root_id, box FROM refs WHERE def_block_id = %s AND type <> 'query_embed'%s LIMIT %d",
		kernel.Quote(string(to)), conditions, maxReferrers+1))
}

func runTransfer(ctx context.Context, r *action.Request, a transferArgs) (any, error) {
	if a.FromID == a.ToID {
		return nil, r.Invalid("toID", "is the same block as fromID")
	}
	all, err := findReferrers(ctx, r, a.FromID, a.RefIDs)
	if err != nil {
		return nil, err
	}
	var warnings []string
	if len(all) > maxReferrers {
		all = all[:maxReferrers]
		warnings = append(warnings, fmt.Sprintf("more than %d blocks refer to %s, and the others still do: call again for them", maxReferrers, a.FromID))
	}
	out := transferResult{Success: true, FromID: a.FromID, ToID: a.ToID, RefIDs: []kernel.ID{}}
	for _, ref := range all {
		if len(a.RefIDs) > 0 && !slices.Contains(a.RefIDs, ref.ID) {
			continue
		}
		switch level := r.Levels.Of(ref.Notebook); {
		case level >= access.Write:
			out.RefIDs = append(out.RefIDs, ref.ID)
		case level == access.Read:
			out.Skipped++
		}
	}
	out.RefIDs = action.Distinct(out.RefIDs)
	for _, id := range a.RefIDs {
		if !slices.Contains(out.RefIDs, id) {
			return nil, r.Invalid("refIDs", fmt.Sprintf("names %s, which does not refer to %s", id, a.FromID))
		}
	}
	out.Count = len(out.RefIDs)
	if out.Skipped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d referring blocks are in notebooks that may only be read, and still refer to %s", out.Skipped, a.FromID))
	}
	out.Warning = joinWarnings(warnings)
	if out.Count == 0 {
		return out, nil
	}
	if err := r.Kernel.TransferRefs(ctx, a.FromID, a.ToID, out.RefIDs); err != nil {
		return nil, err
	}
	return out, verifyTransfer(ctx, r, &out, all)
}

// verifyTransfer returns an error unless the references were changed: the kernel answers code 0 even if it changed none. If they
// were, it has SiYuan's interface reload the documents of both blocks and of the changed blocks of before.
func verifyTransfer(ctx context.Context, r *action.Request, out *transferResult, before []referrer) error {
	remaining, err := findReferrers(ctx, r, out.FromID, nil)
	if err != nil {
		return err
	}
	// The index of references, which findReferrers asks, may still have those from before the transfer. So of each changed block that
	// it still names, the text decides.
	var doubtful []kernel.ID
	for _, ref := range remaining {
		if slices.Contains(out.RefIDs, ref.ID) {
			doubtful = append(doubtful, ref.ID)
		}
	}
	texts, err := r.Kernel.Kramdowns(ctx, action.Distinct(doubtful), "md")
	if err != nil {
		return err
	}
	for id, text := range texts {
		if strings.Contains(text, "(("+string(out.FromID)) {
			return mismatchError(r, id, fmt.Sprintf("the kernel accepted the transfer, and block %s still refers to %s", id, out.FromID))
		}
	}
	for _, t := range r.AllTargets() {
		r.RefreshDocument(t.Root)
	}
	for _, ref := range before {
		if slices.Contains(out.RefIDs, ref.ID) {
			r.RefreshDocument(ref.Root)
		}
	}
	return nil
}
