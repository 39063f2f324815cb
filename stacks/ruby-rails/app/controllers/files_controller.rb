# frozen_string_literal: true

class FilesController < ApplicationController
  def show
    root = Pathname.new(Rails.configuration.x.static_dir)
    file = root.join(params[:name]).cleanpath
    raise ActionController::RoutingError, "no such file" unless file.file? && file.to_s.start_with?("#{root}/")

    found = file.stat
    return unless stale?(etag: [found.mtime.to_r, found.size])

    send_file file, disposition: :inline, type: Mime[file.extname.delete_prefix(".")]
  end
end
