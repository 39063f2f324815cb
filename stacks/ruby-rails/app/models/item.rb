# frozen_string_literal: true

class Item < ApplicationRecord
  # PostgreSQL's text holds any character but NUL.
  validates :name, length: { in: 1..100 }, format: { without: /\0/ }
  validates :price, numericality: { only_integer: true, in: 0..1_000_000 }

  scope :page, ->(after:, limit:) { where(id: after.next..).order(:id).limit(limit) }
end
