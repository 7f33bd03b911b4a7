package audit

import (
	"fmt"
	"time"
)

// Fault says what is wrong with a chain.
type Fault string

// The faults that Verify finds.
const (
	Edited       Fault = "edited"        // a record is not what was written
	Deleted      Fault = "deleted"       // records are missing in the middle
	Swapped      Fault = "swapped"       // records stand in another order, or twice
	Cut          Fault = "cut"           // records are missing at the end
	HeadMissing  Fault = "head missing"  // so that a cut would not show
	HeadForged   Fault = "head forged"   // the key of this home did not sign it
	ChainMissing Fault = "chain missing" // another chain names it
	Newer        Fault = "newer format"  // a later version of Collie wrote it
)

// Problem is one fault and where it is.
type Problem struct {
	Fault Fault
	// File is the path below the log's folder, Line counts from 1 and may be 0 where no
	// line is meant, Seq is the first record concerned.
	File string
	Line int
	Seq  uint64
	// Message tells a person what was found.
	Message string
}

// String reads "file:line: fault: message".
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Fault, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Fault, p.Message)
}

// ChainReport is what Verify found in one chain.
type ChainReport struct {
	Chain string
	// Records is the number of readable records; First and Last are the times of the
	// outermost, zero if there are none.
	Records     int
	First, Last time.Time
	// Seq is the newest record, Covered the one that the head names.
	Seq, Covered uint64
	// Uncovered counts the valid records after Covered. The process still runs, or it was
	// killed within the last 200 ms of its life.
	Uncovered uint64
	// Torn means that the last line has no end: a crash in mid-write. Harmless, unless
	// Problems has a Cut as well.
	Torn bool
	// Ended means that the chain was closed cleanly.
	Ended bool
	// Problems in the order of the file, at most 100.
	Problems []Problem
}

// OK reports whether nothing speaks against the chain.
func (c *ChainReport) OK() bool { return len(c.Problems) == 0 }

// Report is what Verify found in a folder, chains by age, then those that are missing.
type Report struct {
	Chains []ChainReport
}

// OK reports whether nothing speaks against any chain.
func (r *Report) OK() bool {
	for i := range r.Chains {
		if !r.Chains[i].OK() {
			return false
		}
	}
	return true
}

// Records counts the records of all chains.
func (r *Report) Records() int {
	n := 0
	for i := range r.Chains {
		n += r.Chains[i].Records
	}
	return n
}
