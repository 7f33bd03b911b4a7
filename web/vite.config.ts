import { svelte } from '@sveltejs/vite-plugin-svelte'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const bundled = ['svelte', 'marked', 'dompurify', 'virtua', 'katex']

/** Licenses puts the licences of the libraries in the bundle beside it. */
function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle() {
      const require = createRequire(import.meta.url)
      const texts = bundled.map((name) => {
        let dir = dirname(require.resolve(name))
        while (!dir.endsWith(join('node_modules', name))) dir = dirname(dir)
        const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
        for (const file of ['LICENSE.md', 'LICENSE', 'LICENSE.txt']) {
          try {
            return `${name} ${version} (${license})\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n`
          } catch {
            // it has another name
          }
        }
        throw new Error(`${name} has no licence`)
      })
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
    },
  }
}

/** OnlyWoff2 drops the formats of fonts that no browser of this decade asks for. */
function onlyWoff2(): Plugin {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform: (code, id) => (id.includes('katex') && id.endsWith('.css') ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\(['"]\w+['"]\)/g, '') : undefined),
  }
}

export default defineConfig({
  base: '/pages/',
  plugins: [svelte(), onlyWoff2(), licenses()],
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, reportCompressedSize: true },
})
