package kernel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"collie/test/await"
)

// TestVerifyAgain: a kernel that has changed its workspace is noticed, and calls in quick succession verify it only
// once.
func TestVerifyAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var wrong error
		asked := 0
		v := NewVerifier(New("http://kernel", Options{}), func(context.Context, *Client) error {
			asked++
			return wrong
		})
		// want verifies the kernel, and compares the error and how often the kernel has been asked since the beginning.
		want := func(err error, times int) {
			t.Helper()
			if got := v.Verify(t.Context()); !errors.Is(got, err) || asked != times {
				t.Errorf("got %v after %d questions, want %v after %d", got, asked, err, times)
			}
		}
		want(nil, 1)
		want(nil, 1)
		await.Sleep(verifyEvery - time.Millisecond)
		want(nil, 1)
		wrong = errors.New("another workspace")
		await.Sleep(time.Millisecond)
		want(wrong, 2)
		want(wrong, 3) // each call verifies again until that succeeds
		wrong = nil
		want(nil, 4)
		want(nil, 4)
	})
}
