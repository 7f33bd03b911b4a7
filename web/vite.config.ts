import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'
import { licenses } from './licenses'

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
