// Package analytics counts calls on this machine, with their duration and size. [Open] subscribes to calls
// that end and appends a line for each to a file of the day. [Summarize] sums the lines up by day and action.
// [Telemetry] turns them into a report without names and texts of the user, which is sent only if somebody
// configures where to. Single calls are looked up in the audit, by the hash of their session.
//
// For a call this costs one publish on the event bus. The pipeline never waits for it. The files are not a
// reliable record, unlike the audit: what cannot be written is counted and dropped, and lines may be lost
// when the machine stops.
//
// # Files
//
//	<dir>/2026-07-28.jsonl      the calls that ended on that day, in UTC
//	<dir>/2026-07-28.jsonl.1    those after the first file was full, and so on
//
// Files have mode 0600, the folder 0700. Any number of processes append whole lines to the same
// files; nobody renames or rewrites them, and files older than the retention are removed. A line
// is one JSON object:
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
// Tokens are estimated as a quarter of the UTF-16 length, rounded up, which undercounts
// Chinese; the sizes in bytes are exact. The request is the arguments, the response what the
// model reads: the texts of the result, or its structured content if it has no text. If a result
// arrives while 16 MiB of arguments and results wait to be measured, responseChars is the number of
// bytes of the whole result. The fields of the last row are written only if the user has asked for texts. A line with
// "note":"dropped" says how many calls before it were not kept.
package analytics
