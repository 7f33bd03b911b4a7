package file

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action file.upload_asset, which stores a file of this machine as an asset.

type uploadArgs struct {
	Local string `json:"localFilePath" about:"file on the machine of this server" req:"true" min:"1"`
	Dir   string `json:"assetsDirPath" about:"folder below /assets/" default:"/assets/"`
	Large bool   `json:"confirmLargeFile" about:"upload it although it is large" default:"false"`
}

// tooLarge is the result for a file above the threshold: the caller has to repeat the call with a confirmation.
type tooLarge struct {
	Confirm   bool   `json:"requiresConfirmation" about:"the file is large: call again with confirmLargeFile=true"`
	Reason    string `json:"reason" about:"file_too_large"`
	Size      int64  `json:"fileSizeBytes" about:"size of the file"`
	Threshold int64  `json:"thresholdBytes" about:"size from which it is asked for"`
	MB        int    `json:"thresholdMB" about:"the same in MB"`
	Message   string `json:"message" about:"what to do"`
}

type uploadResult struct {
	Success bool              `json:"success" about:"true; false where requiresConfirmation is set"`
	Failed  []string          `json:"errFiles" about:"files that failed" verbose:"yes"`
	Stored  map[string]string `json:"succMap" about:"uploaded name to asset path" verbose:"yes"`
	Path    string            `json:"path" about:"asset path for Markdown"`
	Local   string            `json:"localFilePath" about:"the local file"`
	Name    string            `json:"uploadedFileName" about:"its name as sent, without an id"`
}

// defaultMaxUpload bounds an upload, even a confirmed one, in bytes.
const defaultMaxUpload = 200 << 20

// uploadAsset returns the action upload_asset of the tool file.
func uploadAsset() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "upload_asset", Purpose: "Store a local file as an asset",
		Guide: "The stored name gets an id; the same file is not stored twice, whatever the folder. Show it with `![text](PATH)`. A relative localFilePath is below the first allowed folder; " +
			"hidden files and keys are refused.",
		Dangerous: true, Class: action.Source, Risk: tool.RiskHigh, Effects: tool.EffectWrite,
		Needs:      []action.Need{needsSource("localFilePath")}, // no level: a new asset is in no notebook yet
		Endpoints:  []string{"asset/upload"},
		Aliases:    map[string]string{"path": "localFilePath"},
		Positional: []string{"localFilePath"},
		Result: struct {
			uploadResult
			tooLarge
		}{},
		Example: `{"localFilePath":"pictures/plan.png"}`,
		Adapt:   fileAlias,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("copy the local file %s into the SiYuan workspace", r.Text("localFilePath"))
		},
	}, func(ctx context.Context, r *action.Request, a uploadArgs) (any, error) {
		dir, err := uploadDir(a.Dir)
		if err != nil {
			return nil, err
		}
		f, info, at, err := openSource(r, "localFilePath", a.Local)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if stop, err := checkSize(r, info.Size(), a.Large); stop != nil || err != nil {
			return stop, err
		}
		name := freshName(filepath.Base(at.rel))
		done, err := r.Kernel.UploadAsset(ctx, dir, name, f, info.Size())
		if err != nil {
			return nil, err
		}
		stored := storedAs(&done, name)
		if _, wrong := parseAsset(stored); wrong != "" || len(done.Failed) > 0 {
			return nil, &tool.Error{
				Op: "upload", Kind: kernel.Mismatch, Subject: a.Local, OutcomeUnknown: stored != "",
				Message: "the kernel accepted the file and names no asset that it became",
			}
		}
		r.Workspace.Uploads().Add(stored)
		return uploadResult{true, append([]string{}, done.Failed...), done.Stored, stored, at.path(), name}, nil
	})
}

// storedAs returns where a file was stored. The kernel may have normalized its name.
func storedAs(done *kernel.Uploaded, name string) string {
	if p, ok := done.Stored[name]; ok || len(done.Stored) != 1 {
		return p
	}
	return slices.Collect(maps.Values(done.Stored))[0]
}

// fileAlias accepts "file" for the local path. Together with fileName it is the form of old clients, which sent
// content; that form is left unchanged and refused later.
func fileAlias(args json.RawMessage) json.RawMessage {
	file := gjson.GetBytes(args, "file")
	if !file.Exists() || gjson.GetBytes(args, "fileName").Exists() || gjson.GetBytes(args, "localFilePath").Exists() {
		return args
	}
	return action.DropArgs(action.SetArg(args, "localFilePath", file.Raw), "file")
}

// uploadDir returns the folder to upload to, which must be the assets folder or one below it.
func uploadDir(text string) (string, error) {
	dir := strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/")
	names, wrong := datafile.Check(dir)
	switch {
	case wrong != "":
	case names[0] != "assets":
		wrong = "is not below /assets/"
	case strings.Contains(dir, "%"):
		wrong = "has an encoded character"
	}
	if wrong != "" {
		return "", datafile.BadPathError(text, wrong, "expected /assets/ or a folder below it, such as /assets/travel/")
	}
	return "/" + path.Clean(dir) + "/", nil
}

// checkSize refuses a file above the limit. Above the threshold it asks for a confirmation.
func checkSize(r *action.Request, size int64, confirmed bool) (stop any, err error) {
	limit := r.Workspace.LocalFiles().MaxUpload
	if limit <= 0 {
		limit = defaultMaxUpload
	}
	if size > limit {
		return nil, r.Invalid("localFilePath", fmt.Sprintf("has %d bytes, at most %d can be uploaded", size, limit))
	}
	threshold := int64(r.Config.UploadMB) << 20
	if threshold <= 0 || size <= threshold || confirmed {
		return nil, nil
	}
	large := tooLarge{
		Confirm: true, Reason: "file_too_large", Size: size, Threshold: threshold, MB: r.Config.UploadMB,
		Message: fmt.Sprintf("the file has %.1f MB, more than %d MB; call again with confirmLargeFile=true to upload it",
			float64(size)/(1<<20), r.Config.UploadMB),
	}
	return struct {
		Success bool `json:"success"`
		tooLarge
	}{false, large}, nil
}
