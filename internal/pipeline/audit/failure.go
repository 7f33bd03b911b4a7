package audit

// recordFailure records that the disk does not accept the log, tells those who wait, and lets the writer try again
// later. Records stay in memory meanwhile. The error is set before they are told, so that a caller who has seen
// one record fail cannot see the next one accepted.
func (w *writer) recordFailure(err error) {
	w.failed = true
	w.disarm()
	w.arm(retryTime)

	l := w.log
	l.mu.Lock()
	first := l.err == nil
	l.err = err
	l.waiting = false
	notifySynced(l.queue, err)
	l.cond.Broadcast()
	l.mu.Unlock()

	for _, synced := range w.waiters {
		synced <- err
	}
	w.waiters = w.waiters[:0]
	notifySynced(w.batch[w.next:], err)
	if first {
		w.opts.Logger.Warn("the audit log cannot be written", "dir", l.dir, "err", err)
	}
}

func notifySynced(items []item, err error) {
	for i := range items {
		if items[i].synced != nil {
			items[i].synced <- err
			items[i].synced = nil
		}
	}
}

// recordSuccess records that the disk accepts the log.
func (w *writer) recordSuccess() {
	w.failed = false
	l := w.log
	l.mu.Lock()
	again := l.err != nil
	l.err = nil
	if w.chain != nil && !l.opened {
		l.opened = true
		l.cond.Broadcast()
	}
	if again {
		l.cond.Broadcast()
		l.wakeWriter() // for records that have arrived meanwhile
	}
	l.mu.Unlock()
	if again {
		w.opts.Logger.Info("the audit log can be written again", "dir", l.dir)
	}
}
