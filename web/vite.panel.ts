// The plugin for SiYuan's window: one script without modules, as SiYuan loads plugins, and one style sheet.

import { readFileSync, readdirSync } from 'node:fs'
import { compile } from 'svelte/compiler'
import { defineConfig, type Plugin } from 'vite'
import { licenses } from './licenses'

/** drawings compiles the drawing of the puppy to a function that writes markup. */
function drawings(): Plugin {
  return {
    name: 'drawings',
    enforce: 'pre',
    transform: (code, id) => (id.endsWith('.svelte') ? { code: compile(code, { generate: 'server', dev: false, filename: id }).js.code, map: null } : undefined),
  }
}

/** beside puts what SiYuan reads beside the script. */
function beside(): Plugin {
  return {
    name: 'beside',
    generateBundle() {
      for (const file of readdirSync('panel').sort()) {
        if (/\.(json|md)$/.test(file)) this.emitFile({ type: 'asset', fileName: file, source: readFileSync(`panel/${file}`) })
      }
    },
  }
}

export default defineConfig({
  plugins: [drawings(), beside(), licenses()],
  build: {
    outDir: 'dist-panel', target: 'es2022', modulePreload: false, reportCompressedSize: true, cssCodeSplit: false,
    lib: { entry: 'panel/main.ts', formats: ['cjs'], fileName: () => 'index.js', cssFileName: 'index' },
    rollupOptions: { external: ['siyuan'], output: { exports: 'default' } },
  },
})
