package audit

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// This file writes records for somebody else, with proofs that let them be checked without the log.

// KindExport is the kind of records about exports of the audit.
const KindExport = "export"

// The kinds of the lines that an export adds to the records.
const (
	kindChain = "export.chain"
	kindProof = "export.proof"
)

// maxLine bounds a line of an export. Arguments, the longest part of a record, are cut at 64 KiB.
const maxLine = 16 << 20

// Exported says what [Export] wrote.
type Exported struct {
	Chains, Records int
}

// exportHead is the first line of an export.
type exportHead struct {
	V         int    `json:"v"`
	Kind      string `json:"kind"`
	Time      string `json:"ts"`
	PublicKey string `json:"publicKey"` // Ed25519, base64
}

// exportChain is the line before the records of a chain.
type exportChain struct {
	Kind  string `json:"kind"`
	Chain string `json:"chain"`
}

// proof is the line after the records of a chain: what they continue, how they end, and the head of the chain.
type proof struct {
	Kind      string `json:"kind"`
	Chain     string `json:"chain"`
	FirstSeq  uint64 `json:"firstSeq"`
	FirstPrev string `json:"firstPrev"`
	LastSeq   uint64 `json:"lastSeq"`
	LastHash  string `json:"lastHash"`
	Head      *head  `json:"head,omitempty"`
	Signature string `json:"signature"`
}

func (p *proof) signed() []byte {
	return fmt.Appendf(nil, "collie audit export v1\n%s\n%d\n%s\n%d\n%s\n", p.Chain, p.FirstSeq, p.FirstPrev, p.LastSeq, p.LastHash)
}

// Export writes the records in dir from since until before until, zero times being no bounds, to w: a line with the
// public key, and for each chain a line with its id, its records as they are on disk, and a signed proof that they
// follow each other. [VerifyExport] checks that without the folder. Of each chain it writes all records between the
// first and the last that fit.
func Export(ctx context.Context, dir string, w io.Writer, since, until time.Time) (Exported, error) {
	e := &exporter{dir: dir, out: bufio.NewWriter(w), filter: Filter{Since: since, Until: until}.matcher()}
	if err := e.run(ctx); err != nil {
		return e.done, fmt.Errorf("export audit log: %w", err)
	}
	return e.done, nil
}

type exporter struct {
	dir    string
	out    *bufio.Writer
	filter *matcher
	key    *signingKey
	done   Exported
}

func (e *exporter) run(ctx context.Context) (err error) {
	ids, err := chainIDs(e.dir)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		if e.key, err = readKey(filepath.Join(e.dir, keyFile)); err != nil {
			return err
		}
		err = e.writeJSON(exportHead{format, KindExport, time.Now().UTC().Format(timeLayout), e.key.public()})
	}
	for _, id := range ids {
		if err == nil {
			err = e.writeChain(ctx, id)
		}
	}
	return errors.Join(err, e.out.Flush())
}

func (e *exporter) writeJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = e.out.Write(append(text, '\n'))
	return err
}

// writeChain writes one chain. A record that does not follow the one before ends the proof, and another one begins: what
// was removed or changed shows as such.
func (e *exporter) writeChain(ctx context.Context, id string) error {
	names, err := segments(filepath.Join(e.dir, id))
	if err = ignoreMissing(err); err != nil {
		return err
	}
	h, _ := readHead(filepath.Join(e.dir, id)) // Verify reports a chain without one
	var p *proof
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(e.dir, id, name))
		if err = ignoreMissing(err); err != nil {
			return err
		}
		for _, raw := range wholeLines(data) {
			l, ok := parseLine(raw)
			if !ok || !l.isIntact() || !e.isInPeriod(&l) {
				continue
			}
			if p != nil && (l.seq != p.LastSeq+1 || hex.EncodeToString(l.prev[:]) != p.LastHash) {
				err, p = e.writeProof(p), nil
			}
			if err == nil && p == nil {
				p = &proof{Kind: kindProof, Chain: id, FirstSeq: l.seq, FirstPrev: hex.EncodeToString(l.prev[:]), Head: h}
				err = e.writeJSON(exportChain{kindChain, id})
				e.done.Chains++
			}
			if err == nil {
				_, _ = e.out.Write(raw)
				err = e.out.WriteByte('\n') // which repeats an error of the write before
			}
			if err != nil {
				return err
			}
			p.LastSeq, p.LastHash = l.seq, hex.EncodeToString(l.hash[:])
			e.done.Records++
		}
	}
	if p == nil {
		return nil
	}
	return e.writeProof(p)
}

// isInPeriod reports whether the time of l is in the period that is exported.
func (e *exporter) isInPeriod(l *line) bool {
	when := string(l.time)
	return when >= e.filter.since && (e.filter.until == "" || when < e.filter.until)
}

func (e *exporter) writeProof(p *proof) error {
	p.Signature = e.key.sign(p.signed())
	return e.writeJSON(p)
}

// ExportReport is the result of [VerifyExport].
type ExportReport struct {
	// Fingerprint of the key that signed the export, SHA-256 in hex: to be compared with that of the home.
	Fingerprint     string
	Chains, Records int
	// Problems in the order of the lines, at most 100.
	Problems []Problem
}

// OK reports whether no problem was found.
func (r *ExportReport) OK() bool { return len(r.Problems) == 0 }

// VerifyExport checks an export: every record against its hash, their order, and the signatures. It proves that no one
// without the key changed, added or removed records between the first and the last of each part. The fingerprint
// identifies the key. name is used in problems. An error means that r could not be read.
func VerifyExport(r io.Reader, name string) (ExportReport, error) {
	v := &exportVerifier{name: name}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for v.lineNo = 1; lines.Scan(); v.lineNo++ {
		v.checkLine(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return v.report, fmt.Errorf("verify export: %w", err)
	}
	switch {
	case v.public == nil && v.lineNo > 1:
		v.addProblem(HeadMissing, 0, "the first line does not have the key: this is not an export")
	case v.chain != "":
		v.addProblem(Cut, v.last+1, "the proof of chain %s is missing", v.chain)
	}
	return v.report, nil
}

type exportVerifier struct {
	name   string
	lineNo int
	public ed25519.PublicKey
	report ExportReport

	chain               string // the one whose records follow; "" outside of chains
	first, last         uint64
	firstPrev, lastHash [sha256.Size]byte
}

func (v *exportVerifier) addProblem(f Fault, seq uint64, text string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, Problem{f, v.name, v.lineNo, seq, fmt.Sprintf(text, args...)})
	}
}

func (v *exportVerifier) checkLine(raw []byte) {
	if l, ok := parseLine(raw); ok && v.chain != "" {
		v.checkRecord(&l)
		return
	}
	var head exportHead
	var p proof
	switch {
	case json.Unmarshal(raw, &p) != nil:
		v.addProblem(Edited, 0, "the line is not a record")
	case p.Kind == KindExport && v.lineNo == 1 && json.Unmarshal(raw, &head) == nil:
		v.readKey(head.PublicKey)
	case p.Kind == kindChain && v.chain == "" && isChainName(p.Chain):
		v.chain, v.first, v.last = p.Chain, 0, 0
		v.report.Chains++
	case p.Kind == kindProof && v.chain != "":
		v.checkProof(&p)
	default:
		v.addProblem(Edited, 0, "the line is not a record")
	}
}

func (v *exportVerifier) readKey(text string) {
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		v.addProblem(HeadForged, 0, "the key is not one of Ed25519")
		return
	}
	v.public = key
	sum := sha256.Sum256(key)
	v.report.Fingerprint = hex.EncodeToString(sum[:])
}

func (v *exportVerifier) checkRecord(l *line) {
	switch {
	case !l.isIntact():
		v.addProblem(Edited, l.seq, "the record does not have the hash it states")
	case v.first == 0:
		v.first, v.firstPrev = l.seq, l.prev
	case l.seq > v.last+1:
		v.addProblem(Deleted, v.last+1, "records %d to %d are missing", v.last+1, l.seq-1)
	case l.seq <= v.last:
		v.addProblem(Swapped, l.seq, "record %d is repeated or comes too late, expected record %d", l.seq, v.last+1)
	case l.prev != v.lastHash:
		v.addProblem(Edited, l.seq, "it continues another record than the one before it, which was rewritten")
	}
	v.last, v.lastHash = max(v.last, l.seq), l.hash
	v.report.Records++
}

func (v *exportVerifier) checkProof(p *proof) {
	sig, err := base64.StdEncoding.DecodeString(p.Signature)
	switch {
	case p.Chain != v.chain:
		v.addProblem(HeadForged, p.LastSeq, "it belongs to chain %q", p.Chain)
	case err != nil || v.public == nil || !ed25519.Verify(v.public, p.signed(), sig):
		v.addProblem(HeadForged, p.LastSeq, "the signature does not fit the content")
	case p.FirstSeq != v.first || p.FirstPrev != hex.EncodeToString(v.firstPrev[:]):
		v.addProblem(Deleted, p.FirstSeq, "the records of chain %s begin with %d, the proof with %d", v.chain, v.first, p.FirstSeq)
	case p.LastSeq != v.last || p.LastHash != hex.EncodeToString(v.lastHash[:]):
		v.addProblem(Cut, p.LastSeq, "the records of chain %s end with %d, the proof with %d", v.chain, v.last, p.LastSeq)
	}
	v.chain = ""
}

// csvHead are the columns of an export as CSV.
var csvHead = []string{
	"time", "kind", "origin", "principal", "client", "session", "tool", "action", "name", "risk", "outcome", "error", "message",
	"durationUs", "bytesIn", "bytesOut", "args", "detail", "callId", "parent", "chain", "seq",
}

// ExportCSV writes the records in dir from since until before until, oldest first, as a table with a header (RFC 4180).
// A cell that a spreadsheet would take for a formula begins with an apostrophe. There is no proof in it.
func ExportCSV(ctx context.Context, dir string, w io.Writer, since, until time.Time) (Exported, error) {
	var done Exported
	out := csv.NewWriter(w)
	err := out.Write(csvHead)
	chains := map[string]bool{}
	for e, rerr := range Query(ctx, dir, Filter{Since: since, Until: until}) {
		if err = errors.Join(err, rerr); err != nil {
			break
		}
		row := []string{
			e.Time.UTC().Format(timeLayout), e.Kind, e.Origin, e.Principal, e.Client, e.Session, e.Tool, e.Action, e.Name, e.Risk, e.Outcome,
			e.ErrorType, e.Message, strconv.FormatInt(e.DurationUs, 10), strconv.Itoa(e.BytesIn), strconv.Itoa(e.BytesOut),
			string(e.Args), string(e.Detail), e.CallID, e.Parent, e.Chain, strconv.FormatUint(e.Seq, 10),
		}
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				row[i] = "'" + cell
			}
		}
		err = out.Write(row)
		chains[e.Chain] = true
		done.Records++
	}
	done.Chains = len(chains)
	out.Flush()
	if err = errors.Join(err, out.Error()); err != nil {
		return done, fmt.Errorf("export audit log: %w", err)
	}
	return done, nil
}

// Fingerprint returns the fingerprint of the key in dir, as in an [ExportReport]; "" if there is none yet.
func Fingerprint(dir string) (string, error) {
	k, err := readKey(filepath.Join(dir, keyFile))
	if err != nil {
		return "", ignoreMissing(err)
	}
	key, err := base64.StdEncoding.DecodeString(k.public())
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:]), err
}
