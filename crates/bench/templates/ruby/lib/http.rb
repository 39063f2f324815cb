# frozen_string_literal: true

require 'time'

# As little of HTTP/1.1 as a first check needs, since Ruby's standard library has none. Delete it for {{framework}}.
module HTTP
  Request = Struct.new(:verb, :path)
  Answer = Struct.new(:status, :body, :headers)

  REASONS = { 200 => 'OK', 400 => 'Bad Request', 404 => 'Not Found', 405 => 'Method Not Allowed' }.freeze
  LONGEST_LINE = 8192

  # Answers one request after the other until the client goes.
  def self.serve(socket)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    while (line = socket.gets("\r\n", LONGEST_LINE))
      verb, target, version = line.split
      headers = read_headers(socket)
      unless headers && ['HTTP/1.1', 'HTTP/1.0'].include?(version)
        return write(socket, 'GET', Answer.new(400, 'bad request'), close: true)
      end

      # A body is not read and must not be taken for the next request; HTTP/1.0 asks for no more than one.
      close = headers.key?('content-length') || headers.key?('transfer-encoding') || version == 'HTTP/1.0'
      write(socket, verb, yield(Request.new(verb, target.split('?').first)), close: close)
      return if close
    end
  rescue SystemCallError, IOError
    # The client went in the middle of something; there is nobody to tell.
  ensure
    socket.close
  end

  # Names in lower case; nil when there is something else.
  def self.read_headers(socket)
    headers = {}
    while (line = socket.gets("\r\n", LONGEST_LINE))
      return headers if line == "\r\n"

      name, value = line.split(':', 2)
      return nil unless value

      headers[name.downcase] = value.strip
    end
  end

  def self.write(socket, verb, answer, close:)
    headers = { 'Date' => Time.now.httpdate, 'Content-Type' => 'text/plain; charset=utf-8',
                'Content-Length' => answer.body.bytesize }
    headers.merge!(answer.headers) if answer.headers
    headers['Connection'] = 'close' if close
    lines = headers.map { |name, value| "#{name}: #{value}\r\n" }.join
    body = verb == 'HEAD' ? '' : answer.body
    socket.write("HTTP/1.1 #{answer.status} #{REASONS[answer.status]}\r\n#{lines}\r\n#{body}")
  end

  private_class_method :read_headers, :write
end
