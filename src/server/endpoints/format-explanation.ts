/** Renders an explanation as JSON, as a plain-text report, or as only the body sent to the upstream. */
import type { JsonObject } from '../../core/json/json.ts'
import { asOneOf, readOptional } from '../../dialects/checks/check-json-types.ts'
import { renderTextReport } from '../../explain/render-text-report.ts'

export function formatExplanation(
  { url, headers }: Pick<Request, 'url' | 'headers'>,
  explanation: JsonObject,
  body: string,
): Response {
  const parameter = new URL(url).searchParams.get('format')
  const wantsText = headers.get('accept')?.startsWith('text/plain') === true
  const format =
    readOptional(asOneOf(FORMATS), parameter, 'format') ?? (wantsText ? 'text' : 'json')
  switch (format) {
    case 'json':
      return Response.json(explanation)
    case 'text':
      return new Response(renderTextReport(explanation), {
        headers: { 'content-type': PLAIN_TEXT },
      })
    case 'body':
      return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
}

const FORMATS = ['json', 'text', 'body'] as const
const PLAIN_TEXT = 'text/plain; charset=utf-8'
