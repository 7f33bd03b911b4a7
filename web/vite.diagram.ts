// The frame of diagrams: one classic script, since a frame without an origin may load no modules.

import { defineConfig, type Plugin } from 'vite'
import { licenses } from './licenses'

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Diagram</title>
    <link rel="stylesheet" href="diagram.css" />
  </head>
  <body>
    <div id="diagram"></div>
    <script src="diagram.js"></script>
  </body>
</html>
`
const style = 'body { margin: 0; overflow: hidden; } #diagram { display: flex; justify-content: center; padding: 8px; overflow: auto; } #diagram > svg { height: auto; }\n'

function frame(): Plugin {
  return {
    name: 'frame',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'index.html', source: page })
      this.emitFile({ type: 'asset', fileName: 'diagram.css', source: style })
    },
  }
}

export default defineConfig({
  plugins: [frame(), licenses()],
  build: {
    outDir: 'dist/diagram', target: 'es2022', modulePreload: false, reportCompressedSize: true,
    rollupOptions: { input: 'diagram/main.ts', output: { format: 'iife', entryFileNames: 'diagram.js', inlineDynamicImports: true } },
  },
})
