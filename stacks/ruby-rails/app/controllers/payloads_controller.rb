# frozen_string_literal: true

class PayloadsController < ApplicationController
  def show
    render_binary PayloadWorker::PAYLOAD
  end

  def ping_pong
    render_binary PayloadWorker.instance.ask
  end

  private

  def render_binary(bytes)
    render body: bytes, content_type: "application/octet-stream"
  end
end
