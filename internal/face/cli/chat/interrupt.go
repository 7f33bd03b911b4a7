package chat

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// This file handles Ctrl-C in the plain mode of the chat.

// interrupts handles Ctrl-C: it cancels the current answer or, if there is none, ends the program. Other signals to stop
// always end the program. The zero value is ready.
type interrupts struct {
	mu      sync.Mutex
	running context.CancelFunc // cancels the current answer; nil if there is none
}

// begin returns a context for the program, which ends with the first signal that ends the program. The caller must call
// done.
func (i *interrupts) begin(ctx context.Context) (inner context.Context, done func()) {
	inner, leave := context.WithCancel(context.WithoutCancel(ctx)) // ctx itself would end with the first Ctrl-C
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with inner
		for {
			select {
			case s := <-signals:
				if stop := i.takeRunning(); s == os.Interrupt && stop != nil {
					stop()
				} else {
					leave()
				}
			case <-inner.Done():
				return
			}
		}
	}()
	return inner, func() {
		signal.Stop(signals)
		leave()
	}
}

// takeRunning removes and returns the function that cancels the current answer; nil if there is none.
func (i *interrupts) takeRunning() context.CancelFunc {
	i.mu.Lock()
	defer i.mu.Unlock()
	stop := i.running
	i.running = nil
	return stop
}

// run runs f with a context that Ctrl-C cancels. stopped reports whether Ctrl-C did.
func (i *interrupts) run(ctx context.Context, f func(ctx context.Context) error) (stopped bool, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	i.mu.Lock()
	i.running = cancel
	i.mu.Unlock()
	err = f(inner)
	i.takeRunning()
	return inner.Err() != nil && ctx.Err() == nil, err
}
