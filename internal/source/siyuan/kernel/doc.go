// Package kernel is a client of the HTTP API of a SiYuan kernel: one typed call for each endpoint in use, with a file
// for each family. It does not know tools, levels or callers; others decide whether a request may be made.
//
// The kernel's status codes say little and the shapes of its answers say much. So every call states whether it reads
// or writes, and whether its answer must have data:
//
//   - reads are repeated if that can help, writes never are;
//   - a write without an answer is an error of kind outcome_unknown;
//   - an empty body means that this kernel lacks the endpoint;
//   - code 0 with null, where there always is data, means that the call did nothing.
//
// The entry point is [New]. Errors are [*tool.Error].
package kernel
