/**
 * What a text is based on, in the words of the Responses API. The citation itself is kept in the
 * message's `native`, because the provider wants it back as it was.
 */
import { textOrEmpty, type JsonObject } from '../../../core/json/json.ts'

/** A citation covers the whole of its text. `null` for a kind that the other side has no word for. */
export function convertCitation(citation: JsonObject, length: number): JsonObject | null {
  switch (citation['type']) {
    case 'web_search_result_location':
      return urlCitation(textOrEmpty(citation['url']), citation, length)
    case 'search_result_location':
      return urlCitation(textOrEmpty(citation['source']), citation, length)
    case 'char_location':
    case 'page_location':
    case 'content_block_location':
      return fileCitation(citation, length)
    default:
      return null
  }
}

function urlCitation(url: string, { title }: JsonObject, length: number): JsonObject {
  return { type: 'url_citation', url, title: textOrEmpty(title), start_index: 0, end_index: length }
}

function fileCitation(citation: JsonObject, length: number): JsonObject {
  const { file_id, document_title, document_index } = citation
  const number = typeof document_index === 'number' ? document_index + 1 : 1
  const filename = textOrEmpty(document_title) || `document ${number}`
  return { type: 'file_citation', file_id: textOrEmpty(file_id), filename, index: length }
}
