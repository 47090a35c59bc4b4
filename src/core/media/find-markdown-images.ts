/**
 * The images in a text: what Markdown writes as `![…](https://…)`, or with a `data:` URL. Not those
 * in fenced code, behind a backtick or in a `<details>` block, for they are not shown to anybody.
 */
import { trackMarkdownCodeFences } from '../text/track-markdown-code-fences.ts'

export function findMarkdownImages(text: string): readonly string[] {
  // A look that nearly every text passes.
  if (!text.includes('![')) return NONE
  const shown = HIDING.some((mark) => text.includes(mark)) ? shownLines(text) : text
  const urls: string[] = []
  for (let from = shown.indexOf('!['); from >= 0; from = shown.indexOf('![', from)) {
    const middle = shown.indexOf('](', from)
    if (middle < 0) break
    const { url, end } = urlAt(shown, middle + 2)
    const isCode = shown[from - 1] === '`' || shown[from - 1] === '\\'
    if (!isCode && isImageUrl(url)) urls.push(url)
    from = end
  }
  return urls
}

const NONE: readonly string[] = []

const HIDING = ['```', '~~~', '<details']

function shownLines(text: string): string {
  const fences = trackMarkdownCodeFences()
  let depth = 0
  let isAfterBlank = true
  const shown: string[] = []
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === ''
    const isCode = !isBlank && fences.read(line, isAfterBlank)
    isAfterBlank = isBlank
    if (isCode) continue
    if (line.includes('<details')) depth += 1
    if (depth === 0) shown.push(line)
    if (line.includes('</details>')) depth = Math.max(0, depth - 1)
  }
  return shown.join('\n')
}

/** Up to a blank or the closing parenthesis; those in pairs belong to it. */
function urlAt(text: string, start: number): { readonly url: string; readonly end: number } {
  const from = text[start] === '<' ? start + 1 : start
  let open = 0
  let end = from
  for (; end < text.length; end += 1) {
    const char = text[end]
    if (char === ' ' || char === '\n' || char === '>' || char === '"') break
    if (char === '(') open += 1
    else if (char === ')') {
      if (open === 0) break
      open -= 1
    }
  }
  return { url: text.slice(from, end), end }
}

function isImageUrl(url: string): boolean {
  return url.startsWith('https://') || url.startsWith('data:image/')
}
