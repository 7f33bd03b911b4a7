// Package audit records what was called, by whom and how it ended, and detects later changes by anyone who
// does not have the key. [Stage] writes a pair of records for each call to a [Log]; [Verify], [Query] and
// [Tail] read the records.
//
// The package does not decide about calls, with one exception: a call with effects is refused if it cannot be
// recorded. Where the folder is and how long chains are kept is decided elsewhere.
//
// # Format
//
// This is the specification of format version 1. A reader refuses a record whose "v" is
// larger.
//
//	<dir>/key                         the signing key of this home
//	<dir>/key.lock                    held while the key is made
//	<dir>/prune.lock                  held while old records are removed
//	<dir>/<chain>/000001.jsonl        segments, oldest first
//	<dir>/<chain>/000002.jsonl
//	<dir>/<chain>/head.json           the newest record that is known to be on disk
//
// Folders have mode 0700, files 0600. Any number of processes write into one dir at once;
// each has a chain of its own, made at its first record. The id of a chain is its start in
// UTC, the process id and four random bytes, such as 20260728T091500Z-4711-9f3c01ab, so
// that chains sort by age.
//
// # Records
//
// A segment is a sequence of lines, each one JSON object and a line feed. Fields stand in
// this order; all but v, seq, ts, kind, prev and hash are left out where they are empty.
//
//	v           1
//	seq         1, 2, 3, … through all segments of the chain
//	ts          UTC with six decimals: 2026-07-28T09:15:00.000000Z
//	kind        chain.start, chain.gap, chain.end; change, decision, grant, export, prune; and a pair for
//	            each call: call.start and call.result, likewise read, prompt, complete and request
//	callId      the same in both records of a pair and in the decisions about the call
//	parent      what the call is a part of, such as a step of a turn in a conversation
//	origin      direct, chat, cli-agent, mcp-local, mcp-remote, scheduled
//	principal   who was signed in
//	client      name and version as the client told them
//	session     the first 8 bytes of SHA-256(session id), in hex
//	source      what ran the call
//	tool, action, name    what was resolved, and what the caller wrote
//	risk        none, low, medium, high, critical
//	args        the arguments, redacted; a string if they were not JSON, or over 64 KiB and cut
//	argsHmac    the first 16 bytes of HMAC-SHA-256(arguments as they came in), in hex
//	outcome     ok, error, refused, cancelled, unknown
//	errorType, message    of what went wrong
//	durationUs  microseconds
//	bytesIn, bytesOut     sizes of arguments and result
//	detail      of all kinds but the pairs of calls
//	prev        hash of the record before, 64 zeros in the first one
//	hash        of this record
//
// Let body be the bytes of a line before the text `,"hash":"`. Then
//
//	hash = hex(SHA-256(bytes(prev) || body))
//
// where bytes(prev) are the 32 bytes that prev spells. The bytes on disk are the canonical
// form: a verifier encodes nothing again.
//
// The first record of a chain has kind chain.start. Its detail names host, pid, version
// and format of the writer, the number of chains found in dir, and chain, seq and hash of
// the heads of the 64 newest of them: a chain that is removed is missed by the chains
// after it, by name or by number. The names are bounded because each short-lived command
// makes a chain. A folder appears together with its first head, in one rename. A clean
// end writes chain.end. Where the disk failed for so long that records were given up,
// chain.gap tells how many, in detail.dropped.
//
// A segment is left for the next one when it has reached 8 MiB, when it is a day old, and
// after a failure of the disk. The first record of the next one continues prev. After
// such a failure a segment may end in a piece of a line whose record the next segment has
// in full.
//
// # Head and group commit
//
// Records reach the file within 10 ms and the disk within 200 ms: the segment is synced,
// then head.json is replaced atomically. Only records that somebody waits for are synced
// at once. A kill of the process loses at most what was not yet in the file, a loss of
// power at most what was not yet synced; neither takes away what a head covers.
//
//	{"chain":…,"seq":…,"hash":…,"segment":"000001.jsonl","offset":…,"time":…,"signature":…}
//
// offset is the size of the segment after record seq. The signature is base64 of Ed25519
// over the lines "collie audit head v1", chain, seq, hash, segment, offset and time, each
// ended by a line feed. A head with seq 0 is made together with the folder.
//
// The key file holds the text "collie-audit-key-1 ", the 32 byte Ed25519 seed in base64,
// and a line feed. The key of argsHmac is HKDF-SHA-256 of the seed with the info
// "collie audit args".
//
// # What it proves
//
// An edit, a deletion and a swap show because the chain of hashes breaks. A cut at the end
// shows because the head names a later record; what is newer than the head is valid and
// reported as not covered. A last line without line feed is what a crash leaves behind and
// harmless, unless the head covers it. A missing chain shows as soon as a later one names
// or counts it. The folder of a chain that has neither a head nor a record was emptied.
//
// Not shown: whoever can write to the folder and read the key, which lies beside the chains
// and is readable by the same user, can rewrite everything; whoever can only write can put
// back an older head together with the segments of its time, unless a later chain names a
// newer one; nobody misses the newest chains if all that began after them are removed too,
// nor the whole folder if it is removed or put back from an earlier day.
//
// # Anchor
//
// The anchor is a file outside of dir, best where this user can only append to it. Heads are
// appended to it as lines, as they stand in head.json: with the first commit of a chain, with
// the first one that comes five minutes after the line before, and with its end. detail.anchor
// of chain.start has the path. A verifier takes the newest line of each chain: the chain must
// exist and have that record. So a removed or older folder shows, except for what was written
// since the last line, and so do chains that were signed anew with another key. Whoever can
// remove lines from the anchor can hide what only they show.
//
// # Removal on purpose
//
// Whole segments may be removed, the oldest of a chain first. Before that a record of kind prune is written, whose detail
// names the time, and for each chain the number and hash of the newest record that goes and whether all of it goes;
// so does a signed line in the anchor. A verifier believes such a record if a head covers it: without the key none can
// be made up. Where the segment with that record is itself to be removed, the record is first written again at the end of
// the present chain, unless every chain that is older than the record is gone too.
//
// # Exports
//
// An export is a line with the public key, and for each chain a line with its id, its records, and a proof: the
// signature of Ed25519 over the lines "collie audit export v1", chain, the number and prev of its first record, the
// number and hash of its last, each ended by a line feed.
package audit
