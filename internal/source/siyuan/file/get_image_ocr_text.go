package file

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

type imageTextArgs struct {
	Path string `json:"path" about:"asset path of the image" req:"true" min:"1"`
}

type getImageOCRTextResult struct {
	Path string `json:"path" about:"the image"`
	Text string `json:"text" about:"the text in it"`
}

func getImageOCRText() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "get_image_ocr_text", Purpose: "Read the text that SiYuan recognised in an image",
		Guide:      "Empty where nothing was recognised, or no text recognition is installed.",
		Class:      action.Reads,
		Needs:      []action.Need{needsAsset(access.Read, "path")},
		Endpoints:  []string{"file/readDir", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/getImageOCRText"},
		Positional: []string{"path"},
		Result:     getImageOCRTextResult{},
		Example:    `{"path":"assets/plan-20240101120000-abcdefg.png"}`,
	}, func(ctx context.Context, r *action.Request, a imageTextArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		text, err := r.Kernel.ImageText(ctx, tail(at)) // as documents write it
		if err != nil {
			return nil, err
		}
		return getImageOCRTextResult{a.Path, text}, nil
	})
}
