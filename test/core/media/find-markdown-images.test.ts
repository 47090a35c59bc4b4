import { expect, test } from 'vitest'
import { findMarkdownImages } from '../../../src/core/media/find-markdown-images.ts'

test.each([
  ['Here: ![a cat](https://a.example/1.png)', ['https://a.example/1.png']],
  [
    '![](https://a.example/1.png "A title") ![](<https://a.example/2 >)',
    ['https://a.example/1.png', 'https://a.example/2'],
  ],
  ['![x](https://a.example/a_(1).png).', ['https://a.example/a_(1).png']],
  ['![x](data:image/png;base64,AAAA)', ['data:image/png;base64,AAAA']],
  ['[no image](https://a.example/1.png)', []],
  ['![x](http://a.example/1.png) ![x](file:///etc/passwd) ![x](data:text/html,x)', []],
  ['As `![x](https://a.example/1.png)` is written', []],
  [
    '```md\n![x](https://a.example/1.png)\n```\n![y](https://a.example/2.png)',
    ['https://a.example/2.png'],
  ],
  [
    '<details>\n![x](https://a.example/1.png)\n</details>\n![y](https://a.example/2.png)',
    ['https://a.example/2.png'],
  ],
  ['![never closed', []],
  ['![a](', []],
])('findMarkdownImages returns the URLs of the displayed images in %j', (text, urls) => {
  expect(findMarkdownImages(text)).toEqual(urls)
})

test('findMarkdownImages reads malformed Markdown in linear time and finds at most one image', () => {
  // An implementation with quadratic time exceeds the time limit of the test.
  const texts = ['!['.repeat(200_000), '![](https://'.repeat(50_000), '![]('.repeat(100_000)]
  for (const text of texts) expect(findMarkdownImages(text).length).toBeLessThan(2)
})
