// Package httpstore shares the tool cache of one Collie with others over HTTP: [Handler]
// serves any [toolcache.Backend], [Open] is a Backend at the other end.
//
//	GET   /api/v1/toolcache                 everything; ETag is the generation, If-None-Match works
//	PATCH /api/v1/toolcache                 {"changes":[{"server":"x","entry":{…} or null}]} on top of
//	                                        the generation in If-Match; 412 if there is another by now
//	GET   /api/v1/toolcache/events          server-sent events: "generation" at the start and on change
//	POST  /api/v1/toolcache/leases/{server} {"holder":"h","ms":60000} is answered by {"ok":true};
//	                                        0 ms gives the lease back
//
// Bodies are JSON of at most 64 MiB, compressed with gzip where that helps; errors are
// {"error":{"type":…,"message":…}}.
//
// Who may use the Handler is left to whoever mounts it, what entries mean and how often a dead
// peer is tried to package toolcache.
package httpstore
