package kerneltest

import (
	"time"
)

// systemFamily answers what a client asks before it does anything.
func systemFamily(k *Kernel) {
	k.handle("/api/system/version", func(*Kernel, request) reply { return ok(Version) })
	k.handle("/api/system/bootProgress", func(*Kernel, request) reply {
		return ok(map[string]any{"details": "v" + Version + " Finishing boot...", "progress": 100})
	})
	k.handle("/api/system/currentTime", func(*Kernel, request) reply { return ok(time.Now().UnixMilli()) })
	k.handle("/api/system/getWorkspaceInfo", func(*Kernel, request) reply {
		return ok(map[string]any{"siyuanVer": Version, "workspaceDir": workspaceDir})
	})
	k.handle("/api/system/getNetwork", func(*Kernel, request) reply {
		return ok(map[string]any{"proxy": map[string]any{"scheme": "", "host": "", "port": ""}})
	})
	k.handle("/api/system/getConf", func(*Kernel, request) reply { return ok(recordedConf()) })
}

// workspaceDir is where the kernel says its workspace lies.
const workspaceDir = "/workspace"
