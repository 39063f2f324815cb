# frozen_string_literal: true

# Starts the server that the contract asks for: HOST, PORT, and the end at SIGTERM.

require 'socket'
require_relative 'lib/http'
require_relative 'lib/routes'

Signal.trap('TERM') { exit! }
Thread.report_on_exception = false

listener = TCPServer.new(ENV.fetch('HOST'), Integer(ENV.fetch('PORT')))
listener.listen(1024) # the default backlog is too short for 100 clients at once

loop do
  Thread.new(listener.accept) { |socket| HTTP.serve(socket) { |request| Routes.answer(request) } }
end
