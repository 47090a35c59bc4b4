/**
 * Finds the URLs of images in a Markdown text: `![…](https://…)` or `![…](data:image/…)`. Skips images
 * that are not displayed: in fenced code, after a backtick, or in a `<details>` block.
 */
import { createCodeFenceTracker } from '../text/track-markdown-code-fences.ts'

export function findMarkdownImages(text: string): readonly string[] {
  // Returns early, because nearly all texts have no image.
  if (!text.includes('![')) return NO_URLS
  const visible = HIDING_MARKUP.some((markup) => text.includes(markup)) ? visibleText(text) : text
  const urls: string[] = []
  for (let from = visible.indexOf('!['); from >= 0; from = visible.indexOf('![', from)) {
    const middle = visible.indexOf('](', from)
    if (middle < 0) break
    const { url, end } = readUrl(visible, middle + 2)
    const isCode = visible[from - 1] === '`' || visible[from - 1] === '\\'
    if (!isCode && isImageUrl(url)) urls.push(url)
    from = end
  }
  return urls
}

const NO_URLS: readonly string[] = []

const HIDING_MARKUP = ['```', '~~~', '<details']

function visibleText(text: string): string {
  const fences = createCodeFenceTracker()
  let depth = 0
  let isAfterBlank = true
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const isBlank = line.trim() === ''
    const isCode = !isBlank && fences.readLine(line, isAfterBlank)
    isAfterBlank = isBlank
    if (isCode) continue
    if (line.includes('<details')) depth += 1
    if (depth === 0) lines.push(line)
    if (line.includes('</details>')) depth = Math.max(0, depth - 1)
  }
  return lines.join('\n')
}

/**
 * Reads the URL that begins at `start`, up to a space or the closing parenthesis. The URL itself may
 * contain pairs of parentheses, e.g. `https://a.example/a_(1).png`.
 */
function readUrl(text: string, start: number): { readonly url: string; readonly end: number } {
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
