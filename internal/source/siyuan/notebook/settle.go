package notebook

import (
	"context"
	"time"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

const (
	patience = 10 * time.Second       // for a kernel that starts again, or makes an index
	interval = 100 * time.Millisecond // between two looks at it
)

// settle says what became of a write that closes, opens or removes a notebook, whose answer was
// err: nil if done holds of the notebook as it is now, nil of one that is gone. The kernel may end
// over such a write and be started again, so that a lost answer says nothing.
func settle(ctx context.Context, r *action.Request, id kernel.ID, err error, done func(*kernel.Notebook) bool) error {
	lost := tool.KindOf(err) == tool.OutcomeUnknown
	if err != nil && !lost {
		return err
	}
	n, lookErr := afterwards(ctx, r, id)
	switch {
	case lookErr != nil:
		return unknownEnd(id, lookErr)
	case done(n):
		return nil
	case lost:
		return unknownEnd(id, err)
	}
	return mismatch(id, "the kernel accepted the request, and the notebook is as it was")
}

// afterwards is a notebook as the kernel lists it, which is waited for while the kernel starts.
func afterwards(ctx context.Context, r *action.Request, id kernel.ID) (*kernel.Notebook, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		booted, err := r.Kernel.Booted(ctx)
		if err == nil && booted {
			return now(ctx, r, id)
		}
		if err == nil {
			err = &tool.Error{Op: "ask SiYuan", Kind: tool.Unavailable, Message: "the kernel is still starting"}
		}
		if !wait(ctx) {
			return nil, err
		}
	}
}

// wait waits a moment and reports whether there is time for another look.
func wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(interval):
		return true
	}
}

// index are the documents at the top of a notebook, by which it is seen whether the kernel has its
// documents in its index. It puts them in, and takes them out, in the background: in between,
// documents of an open notebook seem not to be there, and those of a closed one can be written to.
func index(ctx context.Context, r *action.Request, id kernel.ID) ([]kernel.ID, error) {
	docs, err := r.Kernel.Documents(ctx, id, "/")
	ids := make([]kernel.ID, 0, len(docs))
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	return ids, err
}

// indexed waits until documents are in the index, or out of it, and reports whether they are.
func indexed(ctx context.Context, r *action.Request, ids []kernel.ID, in bool) bool {
	want := 0
	if in {
		want = len(ids)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		there, err := r.Kernel.Nodes(ctx, ids)
		switch {
		case err != nil:
			return false
		case len(there) == want:
			return r.Kernel.FlushNow(ctx) == nil // SQL is later still
		case !wait(ctx):
			return false
		}
	}
}
