package kerneltest

// notificationFamily answers messages and reloads, which only a window would notice.
func notificationFamily(k *Kernel) {
	push := func(k *Kernel, req request) reply {
		req.needText("msg")
		req.optNum("timeout", 7000)
		return ok(map[string]any{"id": k.newID()[15:]})
	}
	k.handle("/api/notification/pushMsg", push)
	k.handle("/api/notification/pushErrMsg", push)
	for _, what := range []string{"UI", "Icon", "Theme", "Filetree", "Tag"} {
		k.handle("/api/ui/reload"+what, func(*Kernel, request) reply { return done() })
	}
	for _, what := range []string{"Protyle", "AttributeView"} {
		k.handle("/api/ui/reload"+what, func(_ *Kernel, req request) reply {
			req.str("id")
			return done()
		})
	}
	k.handle("/api/system/reloadUI", func(*Kernel, request) reply {
		return fail(-1, "[/api/system/reloadUI] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details")
	})
}
