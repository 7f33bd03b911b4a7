package audit

import (
	"fmt"
	"time"
)

// This file has what a verification reports.

// Fault says what is wrong with a chain.
type Fault string

// The faults that Verify finds.
const (
	Edited       Fault = "edited"        // a record was changed
	Deleted      Fault = "deleted"       // records are missing in the middle
	Swapped      Fault = "swapped"       // records are in a different order, or occur twice
	Cut          Fault = "cut"           // records are missing at the end
	HeadMissing  Fault = "head missing"  // without it, a cut would not be noticed
	HeadForged   Fault = "head forged"   // not signed by the key of this home
	ChainMissing Fault = "chain missing" // it is named by another chain
	AnchorForged Fault = "anchor forged" // the anchor has a line that the key of this home did not sign, or is missing though chains were anchored
	Newer        Fault = "newer format"  // written by a later version of Collie
)

// Problem is one fault and its place.
type Problem struct {
	Fault Fault `json:"fault"`
	// File is the path below the log's folder. Line counts from 1; 0 means no specific line. Seq is the
	// number of the first affected record.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Seq  uint64 `json:"seq"`
	// Message describes the finding to a person.
	Message string `json:"message"`
}

// String reads "file:line: fault: message".
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Fault, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Fault, p.Message)
}

// ChainReport is the result of Verify for one chain.
type ChainReport struct {
	Chain string
	// Records is the number of readable records. First and Last are the times of the first and the last one,
	// zero if there are none.
	Records     int
	First, Last time.Time
	// Pruned is the number of the newest record that was removed on purpose; those before it are gone as well.
	Pruned uint64
	// Seq is the number of the newest record, Covered that of the record in the head.
	Seq, Covered uint64
	// Uncovered counts the valid records after Covered. There are some if the process is running, or was
	// killed within 200 ms of writing them.
	Uncovered uint64
	// Torn means that the last line is incomplete, as after a crash while writing. That is harmless unless
	// Problems has a Cut as well.
	Torn bool
	// Ended means that the chain was closed regularly.
	Ended bool
	// Problems in the order of the file, at most 100.
	Problems []Problem
}

// OK reports whether no problem was found in the chain.
func (c *ChainReport) OK() bool { return len(c.Problems) == 0 }

// AnchorReport is what [Verify] found in the anchor, a file outside the folder.
type AnchorReport struct {
	// Path of the file; "" if there is no anchor.
	Path string
	// Missing means that there is no such file. That is a fault if a chain began while the anchor was set.
	Missing bool
	// Chains counts those that the file names, Unnamed those that began while an anchor was set and that it does not
	// name: it could not be written then, or lines were removed.
	Chains, Unnamed int
	// Problems in the order in which they were found, at most 100.
	Problems []Problem
}

// OK reports whether nothing in the anchor contradicts the chains.
func (a *AnchorReport) OK() bool { return len(a.Problems) == 0 }

// Report is the result of Verify for a folder: the existing chains by age, then the missing ones.
type Report struct {
	Chains []ChainReport
	Anchor AnchorReport
}

// OK reports whether no problem was found in any chain or in the anchor.
func (r *Report) OK() bool {
	for i := range r.Chains {
		if !r.Chains[i].OK() {
			return false
		}
	}
	return r.Anchor.OK()
}

// Records returns the number of records in all chains.
func (r *Report) Records() int {
	n := 0
	for i := range r.Chains {
		n += r.Chains[i].Records
	}
	return n
}
