# frozen_string_literal: true

# What answers each path and method.
module Routes
  TABLE = {
    '/plaintext' => { 'GET' => ->(_request) { HTTP::Answer.new(200, 'Hello, World!') } }
  }.freeze

  def self.answer(request)
    methods = TABLE[request.path]
    return HTTP::Answer.new(404, 'not found') unless methods

    handler = methods[request.verb]
    return HTTP::Answer.new(405, 'method not allowed', { 'Allow' => methods.keys.join(', ') }) unless handler

    handler.call(request)
  end
end
