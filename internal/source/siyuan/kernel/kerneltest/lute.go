package kerneltest

// luteFamily answers the endpoint below /api/lute that turns the DOM of typed blocks into the DOM that is saved.
func luteFamily(k *Kernel) {
	k.handle("/api/lute/spinBlockDOM", func(k *Kernel, req request) reply {
		return ok(object{"dom": domsOf(k.identify(parseDOM(req.str("dom"))))})
	})
}
