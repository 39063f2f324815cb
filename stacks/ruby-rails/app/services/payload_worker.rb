# frozen_string_literal: true

# A thread that answers every message with the payload.
#
# It starts with the first request, and so after Puma has forked: threads do not survive a fork.
class PayloadWorker
  include Singleton

  PAYLOAD = ("d" * 1.megabyte).freeze

  def initialize
    @mailbox = Queue.new
    Thread.new { work }.name = "payload worker"
  end

  def ask
    reply = Queue.new
    @mailbox << reply
    reply.pop
  end

  private

  def work
    loop { @mailbox.pop << PAYLOAD }
  end
end
