// Package analytics counts on this machine what is called, how long it takes and how large it
// is. [Open] subscribes to the calls that end and appends a line for each to a file of the day;
// [Summarize] adds the lines up by day and by action, and [Telemetry] makes of them a report
// without names and texts of the user, which goes nowhere unless somebody says where to. Single
// calls are looked up in the audit, by the hash of their session.
//
// A call pays for it one publish on the event bus. What the pipeline does is never held up, and
// nothing here is a record to rely on: what cannot be kept is counted and dropped, a line may be
// lost when the machine stops. The audit is the record.
//
// # Files
//
//	<dir>/2026-07-28.jsonl      the calls that ended on that day, in UTC
//	<dir>/2026-07-28.jsonl.1    those after the first file had become full, and so on
//
// Files have mode 0600, the folder 0700. Any number of processes append whole lines to the same
// files; nobody renames or rewrites them, and files older than the retention go. A line is one
// JSON object:
//
//	seq                   milliseconds, made strictly increasing within a process
//	ts                    when the call ended, in milliseconds since 1970
//	tool, action          what was resolved; both empty where nothing was
//	status                success or error
//	durationMs            with three decimals
//	errorType, errorCode  the kind and the code of what went wrong
//	paramKeys             names of the arguments, never their values, sorted; at most 32
//	resultSizeHint        responseChars as 0, 0-200, 200-1K, 1K-5K, 5K-20K or 20K+
//	transport             stdio, http or cli
//	sessionIdHash         the first 8 bytes of SHA-256(session id), in hex, as in the audit
//	requestChars, responseChars                   lengths in UTF-16 units
//	requestBytes, responseBytes                   sizes as they travelled
//	requestApproxTokens, responseApproxTokens, totalApproxTokens, tokenMode
//	requestText, responseText, requestTextTruncated, responseTextTruncated
//
// Tokens are estimated as a quarter of the UTF-16 length, rounded up, which counts Chinese
// short: the sizes in bytes tell. The request is the arguments, the response what the model
// reads: the texts of the result, or its structured content where it has no text. Of a result
// that came while 16 MiB of arguments and results waited to be looked at, it is the whole, in bytes. The last row
// is there only if the user has asked for texts. A line with "note":"dropped" says how
// many calls before it were not kept.
package analytics
