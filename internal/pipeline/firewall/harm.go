package firewall

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file denies programs that destroy data or disable protection, such as rm on a home folder.

// denyHarm denies programs that must never run, anywhere in a command: also after sudo, env, timeout or an
// unknown wrapper. It also judges the words after the first as files and as URLs.
func (j *judgement) denyHarm(words []word) {
	if !j.spend(len(words)) {
		return
	}
	for i := range words {
		name := lowerBase(words[i].text)
		roles := roleOf(name)
		if roles == 0 {
			continue
		}
		if !j.spend(len(words) - i) {
			return
		}
		if reason, rule := j.harmOf(name, words[i+1:]); rule != "" {
			j.report(Deny, rule, reason)
			return
		}
		if roles != harms {
			j.judgeEmbedded(name, words[i+1:])
		}
	}
	writes := !strings.Contains(lookers, " "+programName(words)+" ")
	for _, w := range words[min(1, len(words)):] {
		j.judgeOperand(w, writes)
	}
	j.judgeAddresses(words)
}

// lookers are programs that are asked about, and read the files that their words name.
const lookers = " awk gawk mawk less more bat batcat base64 "

// lowerBase returns the last component of a path in lower case.
func lowerBase(p string) string {
	p = p[strings.LastIndexByte(p, '/')+1:]
	for i := range len(p) {
		if c := p[i]; c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf {
			return strings.ToLower(p)
		}
	}
	return p
}

// denyAllowed denies a command that must never run although the settings allow it. If its program runs other programs,
// such as sudo or sh, each word may be the name of one. Otherwise only the first word is: "npm run format" does not run
// the program format.
func (j *judgement) denyAllowed(words []word) {
	name := lowerBase(words[0].text)
	switch {
	case name == "find":
		if folders, rest := findFolders(words[1:]); j.deletesEverything(folders, rest) {
			j.report(Deny, "command.everything", "it deletes far more than anyone would want")
		}
		fallthrough
	case strings.Contains(wrappers, " "+name+" "), roleOf(name)&(runsScripts|interprets) != 0, name == "ssh":
		j.denyHarm(words)
		return
	}
	if reason, rule := j.harmOf(name, words[1:]); rule != "" {
		j.report(Deny, rule, reason)
	}
	j.judgeEmbedded(name, words[1:])
}

// scriptTakers are programs that run a script given as an argument.
const scriptTakers = " sh bash zsh dash ksh ash mksh fish csh tcsh su script flock watch parallel runuser busybox "

// judgeEmbedded judges commands that a program receives as text.
func (j *judgement) judgeEmbedded(name string, args []word) {
	roles := roleOf(name)
	switch {
	case roles&runsScripts != 0:
		for i, a := range args {
			if i > 0 && isCommandOption(args[i-1].text) || name == "watch" && strings.Contains(a.text, " ") || name == "parallel" && strings.Contains(a.text, " ") {
				j.judgeScript(a.text)
			}
		}
	case name == "eval", name == "rsh", name == "trap", name == "at":
		var text strings.Builder
		for _, a := range args {
			text.WriteString(a.text + " ")
		}
		j.judgeScript(text.String())
	case name == "alias":
		for _, a := range args {
			if _, text, ok := strings.Cut(a.text, "="); ok {
				j.judgeScript(text)
			}
		}
	case name == "env":
		for i, a := range args {
			if rest, ok := strings.CutPrefix(a.text, "-S"); ok && rest != "" {
				j.judgeScript(rest)
			} else if i > 0 && (args[i-1].text == "-S" || args[i-1].text == "--split-string") {
				j.judgeScript(a.text)
			} else if rest, ok := strings.CutPrefix(a.text, "--split-string="); ok {
				j.judgeScript(rest)
			}
		}
	case roles&carries != 0:
		j.judgeCarried(name, args)
	case roles&interprets != 0, name == "awk", name == "gawk", name == "mawk", name == "expect":
		for _, a := range args {
			if strings.ContainsAny(a.text, " (;") {
				j.judgeSource(a.text)
			}
		}
		if name == "powershell" || name == "pwsh" {
			var text strings.Builder
			for _, a := range args {
				text.WriteString(a.text + " ")
			}
			j.judgeSource(text.String())
			if decoded := decodedPowerShell(args); decoded != "" {
				j.judgeSource(decoded)
			}
		}
	}
}

// isCommandOption reports whether an option takes a script as the next word: -c, -lc, --command.
func isCommandOption(s string) bool {
	return s == "--command" || strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "c")
}

// judgeSource searches source code of other languages for a reverse shell, and for denied commands.
func (j *judgement) judgeSource(s string) {
	if !j.spend(len(s) / 4) {
		return
	}
	lower := strings.ToLower(s)
	if reason, rule := j.sourceHarm(lower); rule != "" {
		j.report(Deny, rule, reason)
		return
	}
	connects := strings.Contains(lower, "socket") || strings.Contains(lower, "fsockopen") || strings.Contains(lower, "tcpsocket") || strings.Contains(lower, "net.connect") || strings.Contains(lower, "/inet/tcp")
	if connects && (strings.Contains(lower, "/bin/") || strings.Contains(lower, "dup2") || strings.Contains(lower, "pty") || strings.Contains(lower, "spawn") || strings.Contains(lower, "exec") || strings.Contains(lower, "subprocess") || strings.Contains(lower, "cmd")) {
		j.report(Deny, "command.reverse", "it gives another machine a shell")
		return
	}
	j.scanUnparsed(s)
	if strings.ContainsAny(s, "[,") {
		j.scanUnparsed(unquoted.Replace(s))
	}
}

// hasOption reports whether args contain an option: one of letters, possibly within a group, or long, possibly
// abbreviated.
func hasOption(args []word, letters, long string) bool {
	return slices.ContainsFunc(args, func(a word) bool {
		switch {
		case strings.HasPrefix(a.text, "--"):
			name, _, _ := strings.Cut(a.text, "=")
			return long != "" && len(name) > 3 && strings.HasPrefix(long, name)
		case strings.HasPrefix(a.text, "-"):
			return letters != "" && strings.ContainsAny(a.text[1:], letters)
		}
		return false
	})
}

// operandsOf returns the words that are not options.
func operandsOf(args []word) (out []word) {
	for _, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			out = append(out, a)
		}
	}
	return out
}

// anyOperand reports whether f is true of a word that is not an option.
func anyOperand(args []word, f func(word) bool) bool {
	return slices.ContainsFunc(args, func(a word) bool { return !strings.HasPrefix(a.text, "-") && f(a) })
}

// isVast reports whether a file operand is the root, a home or a folder of the system.
func (j *judgement) isVast(w word) bool {
	text := strings.TrimSuffix(strings.TrimSuffix(w.text, "*"), ".")
	if len(j.folders) > 0 && w.fixed && !strings.HasPrefix(w.text, "/") && !strings.HasPrefix(w.text, "~") {
		for _, f := range j.folders {
			if j.isVast(word{text: path.Join(f, strings.TrimSuffix(w.text, "*")), fixed: true}) {
				return true
			}
		}
		return false
	}
	if up := path.Clean(strings.TrimRight(w.text, "*?/")); strings.HasPrefix(up, "../..") {
		p, _ := j.canonical(up)
		_, system := j.forbidden(p, true, false)
		return p == "/" || system || p == "/home" || p == "/root" || p == "/Users" || path.Dir(p) != "/" && j.holdsSystem(p) // ../../dist is not a folder of the root
	}
	if text == "" || !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~") && !isDrive(text+`\`) {
		return false
	}
	if isDrive(text + `\`) {
		return len(text) <= 3
	}
	p, _ := j.canonical(text)
	return j.holdsSystem(p) || p == "/home" || slices.Contains([]string{"/usr/bin", "/usr/lib", "/usr/local", "/var/lib", "/var/log", "/var/www", "/etc/ssh"}, p)
}

// movedBy returns the operands of mv that it moves: all but the destination.
func movedBy(args []word) []word {
	operands := operandsOf(args)
	if n := len(operands); n > 1 && !strings.ContainsAny(operands[n-1].text, "*?[{") && !hasOption(args, "t", "--target-directory") {
		return operands[:n-1]
	}
	return operands
}

// hasTreeSwitch reports whether a word has the switch /s of cmd, with which del and rmdir also delete what is in folders. cmd
// takes several switches in one word.
func hasTreeSwitch(w word) bool {
	return strings.HasPrefix(w.text, "/") && strings.Contains(strings.ToLower(w.text)+"/", "/s/")
}

// isCmdSwitch reports whether an operand is one or more switches of a program of cmd, such as /s/q.
func isCmdSwitch(name string, w word) bool {
	if !slices.Contains([]string{"rmdir", "rd", "del", "erase"}, name) || !strings.HasPrefix(w.text, "/") {
		return false
	}
	for part := range strings.SplitSeq(w.text[1:], "/") {
		if letter, _, _ := strings.Cut(part, ":"); len(letter) != 1 {
			return false
		}
	}
	return true
}

// securityServices are services that protect a machine or record what happens on it.
const securityServices = " firewalld ufw iptables nftables auditd apparmor selinux fail2ban clamav-daemon clamd falcon-sensor crowdstrike osqueryd wazuh-agent rsyslog syslog sysmon windefend mdatp "

// logPaths are files and folders that record what was done on the machine.
var logPaths = [...]string{"/var/log", "~/.bash_history", "~/.zsh_history", "~/.history", "~/.local/share/fish"}

// harmful are the programs that harmOf looks at.
const harmful = " rm srm shred trash rmdir unlink del erase rd remove-item ri chmod chown chgrp setfacl chattr mv dd cp tee cat install " +
	"ddrescue pv mke2fs fdisk sfdisk cfdisk gdisk sgdisk parted wipefs mkswap blkdiscard hdparm diskutil format format.com " +
	"diskpart cryptsetup zpool lvremove vgremove pvremove nvme nc ncat netcat socat setenforce csrutil spctl set-mppreference " +
	"add-mppreference ufw iptables ip6tables nft auditctl aa-teardown aa-disable firewall-cmd pfctl netsh systemctl service " +
	"sc launchctl rc-service update-rc.d chkconfig history clear-history unset set truncate journalctl wevtutil vssadmin " +
	"bcdedit wbadmin cipher reg schtasks bitsadmin certutil mshta regsvr32 rundll32 icacls takeown fsutil net net1 dmesg pkill killall taskkill "

// harmOf returns why a command must never run, and the rule; both empty if it may. name is the program in lower case.
func (j *judgement) harmOf(name string, args []word) (reason, rule string) {
	if roleOf(name)&harms == 0 {
		return "", ""
	}
	vast := func() bool {
		return anyOperand(args, func(w word) bool { return !isCmdSwitch(name, w) && j.isVast(w) })
	}
	recursive := hasOption(args, "rR", "--recursive")
	switch name {
	case "rm", "srm", "shred", "trash", "rmdir", "unlink":
		recursive = recursive || name == "rmdir" && slices.ContainsFunc(args, hasTreeSwitch)
		if recursive && vast() || hasOption(args, "", "--no-preserve-root") {
			return "it deletes far more than anyone would want", "command.everything"
		}
		if anyOperand(args, isLog) {
			return "it removes the traces of what was done", "command.traces"
		}
	case "del", "erase", "rd", "remove-item", "ri":
		if vast() && slices.ContainsFunc(args, func(a word) bool { return hasTreeSwitch(a) || strings.HasPrefix(strings.ToLower(a.text), "-rec") }) {
			return "it deletes far more than anyone would want", "command.everything"
		}
	case "chmod", "chown", "chgrp", "setfacl", "chattr", "mv":
		if name == "mv" && slices.ContainsFunc(movedBy(args), j.isVast) || recursive && vast() {
			return "it changes far more than anyone would want", "command.everything"
		}
	case "dd", "cp", "tee", "cat", "install", "ddrescue", "pv":
		if slices.ContainsFunc(args, func(a word) bool {
			target := strings.TrimPrefix(a.text, "of=")
			rule, bad := j.forbidden(path.Clean(target), true, false)
			return strings.HasPrefix(target, "/dev/") && (name != "dd" || strings.HasPrefix(a.text, "of=")) && bad && rule.name == "path.device"
		}) {
			return "it writes to a disk itself", "command.disk"
		}
	case "mke2fs", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted", "wipefs", "mkswap", "blkdiscard", "hdparm", "diskutil", "format", "format.com", "diskpart", "cryptsetup", "zpool", "lvremove", "vgremove", "pvremove", "nvme":
		if !hasOption(args, "l", "--list") && len(args) > 0 && !slices.ContainsFunc(args, func(a word) bool {
			return a.fixed && slices.Contains([]string{"list", "info", "status", "print"}, a.text)
		}) {
			return "it changes disks or file systems", "command.disk"
		}
	case "nc", "ncat", "netcat":
		if hasOption(args, "ec", "--exec") || hasOption(args, "", "--sh-exec") {
			return "it gives another machine a shell", "command.reverse"
		}
	case "socat":
		if slices.ContainsFunc(args, func(a word) bool {
			l := strings.ToLower(a.text)
			return strings.Contains(l, "exec:") || strings.Contains(l, "system:")
		}) {
			return "it gives another machine a shell", "command.reverse"
		}
	case "setenforce", "csrutil", "spctl", "set-mppreference", "add-mppreference", "ufw", "iptables", "ip6tables",
		"nft", "auditctl", "aa-teardown", "aa-disable", "firewall-cmd", "pfctl", "netsh", "systemctl", "service", "sc",
		"launchctl", "rc-service", "update-rc.d", "chkconfig", "pkill", "killall", "taskkill", "vssadmin", "bcdedit",
		"wbadmin", "cipher":
		return securityHarm(name, args)
	case "history", "clear-history", "unset", "set", "truncate", "journalctl", "wevtutil", "dmesg":
		return traceHarm(name, args)
	case "reg", "schtasks", "bitsadmin", "certutil", "mshta", "regsvr32", "rundll32", "icacls", "takeown", "fsutil", "net", "net1":
		return j.windowsHarm(name, args)
	}
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return "it changes disks or file systems", "command.disk"
	}
	return "", ""
}

// looks are programs that [judgement.harmOf] knows, each with a first argument with which it only shows something.
const looks = " csrutil status  spctl --status  bcdedit /enum  vssadmin list  wbadmin get "

// securityHarm returns why a program that could switch off protection, or remove ways to recover, must not run with these
// arguments, and the rule; both empty if it may.
func securityHarm(name string, args []word) (reason, rule string) {
	if len(args) > 0 && args[0].fixed && (len(args) == 1 || name != "spctl") && strings.Contains(looks, " "+name+" "+strings.ToLower(args[0].text)+" ") {
		return "", ""
	}
	switch name {
	case "setenforce", "csrutil", "spctl", "set-mppreference", "add-mppreference":
		return "it switches off what protects this machine", "command.security"
	case "ufw", "iptables", "ip6tables", "nft", "auditctl", "aa-teardown", "aa-disable", "firewall-cmd", "pfctl", "netsh":
		if slices.ContainsFunc(args, func(a word) bool {
			return slices.Contains([]string{"disable", "reset", "-F", "--flush", "flush", "-X", "-P", "-e0", "off", "--panic-off", "-D"}, a.text)
		}) || name == "auditctl" && hasOption(args, "e", "") || (name == "pfctl" || name == "auditctl") && hasOption(args, "d", "") {
			return "it switches off what protects this machine", "command.security"
		}
	case "systemctl", "service", "sc", "launchctl", "rc-service", "update-rc.d", "chkconfig":
		verb := slices.ContainsFunc(args, func(a word) bool {
			return slices.Contains([]string{"stop", "disable", "mask", "kill", "delete", "unload", "bootout", "remove", "off"}, a.text)
		})
		if verb && slices.ContainsFunc(args, isSecurityService) {
			return "it switches off what protects this machine", "command.security"
		}
	case "pkill", "killall", "taskkill":
		if slices.ContainsFunc(args, isSecurityService) {
			return "it switches off what protects this machine", "command.security"
		}
	case "vssadmin", "bcdedit", "wbadmin", "cipher":
		return "it removes backups or ways to recover", "command.security"
	}
	return "", ""
}

// traceHarm returns why a program that could remove records of what was done must not run with these arguments, and the
// rule; both empty if it may.
func traceHarm(name string, args []word) (reason, rule string) {
	switch name {
	case "history", "clear-history":
		if hasOption(args, "cwad", "") || name == "clear-history" {
			return "it removes the traces of what was done", "command.traces"
		}
	case "unset":
		if slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.text, "HIST") }) {
			return "it keeps commands out of the history", "command.traces"
		}
	case "set":
		if slices.ContainsFunc(args, func(a word) bool { return a.text == "+o" }) && slices.ContainsFunc(args, func(a word) bool { return a.text == "history" }) {
			return "it keeps commands out of the history", "command.traces"
		}
	case "truncate":
		if anyOperand(args, isLog) {
			return "it removes the traces of what was done", "command.traces"
		}
	case "journalctl":
		if hasOption(args, "", "--vacuum-size") || hasOption(args, "", "--vacuum-time") || hasOption(args, "", "--rotate") {
			return "it removes the traces of what was done", "command.traces"
		}
	case "wevtutil":
		if slices.ContainsFunc(args, func(a word) bool { return a.text == "cl" || a.text == "clear-log" }) {
			return "it removes the traces of what was done", "command.traces"
		}
	case "dmesg":
		if hasOption(args, "Cc", "--clear") || hasOption(args, "", "--read-clear") {
			return "it removes the traces of what was done", "command.traces"
		}
	}
	return "", ""
}

func isSecurityService(w word) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(w.text), ".service"), ".exe")
	return strings.Contains(securityServices, " "+name+" ")
}

// windowsHarm returns why a command of Windows must never run, as harmOf does.
func (j *judgement) windowsHarm(name string, args []word) (reason, rule string) {
	var text strings.Builder
	for _, a := range args {
		text.WriteString(strings.ToLower(strings.ReplaceAll(a.text, `\`, "")) + " ") // shells other than those of Windows remove backslashes
	}
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text.String(), p) })
	}
	vast := slices.ContainsFunc(args, func(a word) bool {
		drive, _, _ := strings.Cut(a.text, " ")
		return isDrive(drive+`\`) && len(drive) <= 3
	})
	switch {
	case name == "reg" && (has("add", "currentversionrun") || has("add", "winlogon")), name == "schtasks" && (has("/create") || has("/change")):
		return whyStarts, "path.starts"
	case name == "reg" && has("delete", "hklm"):
		return whySystem, "path.system"
	case name == "bitsadmin" && has("/transfer"), name == "certutil" && has("urlcache"), name == "mshta" && (has("://") || has("script:")),
		name == "regsvr32" && has("://"), name == "rundll32" && has("script:"):
		return "it runs what it has just fetched", "command.download"
	case (name == "icacls" || name == "takeown") && vast && (has("/t") || has("/r")):
		return "it changes far more than anyone would want", "command.everything"
	case name == "fsutil" && has("deletejournal"):
		return "it removes the traces of what was done", "command.traces"
	case strings.HasPrefix(name, "net") && has("stop") && slices.ContainsFunc(args, isSecurityService):
		return "it switches off what protects this machine", "command.security"
	}
	return "", ""
}

func isLog(w word) bool {
	for _, log := range logPaths {
		if rest, ok := strings.CutPrefix(w.text, log); ok && (rest == "" || rest[0] == '/' || rest[0] == '*') {
			return true
		}
	}
	return false
}
