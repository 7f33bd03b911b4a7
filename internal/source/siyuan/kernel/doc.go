// Package kernel speaks the HTTP API of a SiYuan kernel: one typed call for each endpoint
// that is used, grouped by family in one file each. It knows no tools, no levels and no
// callers; whether a request may be made is for others to say.
//
// The kernel says little with status codes and much with shapes, so
// every call states whether it reads or writes and whether its answer must carry data:
//
//   - reads are tried again where that can help, writes never are;
//   - a write that got no answer is an error of kind outcome_unknown;
//   - an empty body is an endpoint that this kernel lacks;
//   - code 0 with null where data is always there is a call that did nothing.
//
// The entry point is [New]. Errors are [*tool.Error].
package kernel
